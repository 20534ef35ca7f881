# SPDX-License-Identifier: GPL-2.0-only
"""The lab's test bench: the network that lasts, and the jobs done on it."""

from __future__ import annotations

import resource
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from harness.agent import softirq, trial
from harness.agent.events import emit
from harness.agent.kernel_log import KernelComplaintError, KernelLog
from harness.agent.losses import Losses
from harness.agent.queues import LoadedQueues
from harness.agent.reason import reason
from harness.agent.tune import Tuner
from plan import plan
from plan.plan import Plan
from topology import modules, netlink, rtnetlink
from topology.build import Network
from topology.clock import wake_exactly

if TYPE_CHECKING:
    from harness.agent.prompt import Commands  # and Mininet with it, for a prompt only

OPEN_FILES = 65536
SHELL_LATE_TOLERANCE_NS = 1_000_000_000


class Bench:
    """Holds what outlives a trial. Jobs are dispatched by their kind.

    Args:
        until_end: takes what stays until the last job is done.
    """

    def __init__(self, until_end: ExitStack) -> None:
        self.until_end = until_end
        self.network: Network | None = None
        self.tuner: Tuner | None = None
        self.losses: Losses | None = None
        self.commands: Commands | None = None
        self.log = KernelLog()

    def do(self, job: dict[str, Any]) -> None:
        """Do one job; an exception of a trial is reported and the next job goes on."""
        {
            "network": self.build,
            "trial": self.trial,
            "shell": self.shell,
            "command": self.command,
        }[job["kind"]](job)

    def build(self, job: dict[str, Any]) -> None:
        """Build the network of the job's topology."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
        softirq.go_first()
        wake_exactly()
        with netlink.open_here() as link:
            rtnetlink.apply(link, [rtnetlink.link_up(rtnetlink.LOOPBACK)])
        for module in job["modules"]:
            modules.insert(module)
        begin = time.monotonic()
        self.network = Network(plan.part(plan.Topology, job["topology"]).layout())
        self.network.build(advance=lambda step: emit("building", step=step))
        self.tuner, self.losses = Tuner(self.network), Losses(self.network)
        emit("network", pairs=self.network.layout.pairs, took_s=time.monotonic() - begin)

    def trial(self, job: dict[str, Any]) -> None:
        """Run a trial; its failure is told and costs no other trial, if the kernel is well."""
        emit("trial-begin", trial=job["trial"])
        try:
            self.run_trial(job, plan.from_json(job["plan"]))
        except KernelComplaintError:
            raise  # the next trial's kernel is one that has not complained
        except Exception as error:  # noqa: BLE001 (told to the harness, in one line)
            emit("trial-failed", trial=job["trial"], error=reason(error))
        else:
            emit("trial-end", trial=job["trial"])

    def run_trial(self, job: dict[str, Any], wanted: Plan) -> None:
        """Run a trial; raises when anything but the measured traffic goes wrong."""
        network, tuner, losses = self.network, self.tuner, self.losses
        assert network is not None and tuner is not None and losses is not None
        trial.run_trial(network, tuner, losses, self.log, job["trial"], wanted, exact=job["exact"])

    def shell(self, job: dict[str, Any]) -> None:
        """Mininet's prompt over the network, tuned as the job's plan says.

        On a terminal until the person leaves; else for the jobs "command" that follow.
        """
        from harness.agent.prompt import Commands, on_terminal
        from topology import mininet_view

        assert self.network is not None and self.tuner is not None
        wanted = plan.from_json(job["plan"])
        self.tuner.tune(wanted)
        network, topology = self.network, wanted.topology
        for delay in trial.delays_of(topology, network):
            self.until_end.enter_context(delay)  # a queue of packets has its link's rate there
        # A person at the prompt wants packets to pass, however late the clock makes them.
        queues = LoadedQueues(network, wanted, SHELL_LATE_TOLERANCE_NS)
        self.until_end.enter_context(queues)
        self.until_end.enter_context(trial.losing_as(wanted, network))
        if job["terminal"]:
            emit("shell")
            on_terminal(mininet_view.of(network))
        else:
            self.commands = self.until_end.enter_context(Commands(mininet_view.of(network)))
            emit("shell")

    def command(self, job: dict[str, Any]) -> None:
        """One line of the prompt, after a shell without a terminal."""
        assert self.commands is not None
        self.commands.run(job["line"])
