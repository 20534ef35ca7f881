# SPDX-License-Identifier: GPL-2.0-only
"""lab.receiver_kernel: what it changes in a trial, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.api.experiment import Experiment
from harness.cli.commands import shell
from harness.design import experiment
from harness.design.trials import OwnKernel, TrialKernel, planned
from harness.flavors import own
from harness.host import paths
from harness.kernels import store
from harness.kernels.kernel import Kernel
from plan.errors import UsageError
from plan.plan import Plan
from tests.small import TINY, write_small

TEXT = TINY.replace('policy = "plain", buffer_cells = 300', 'kind = "drop-tail", limit_packets = 9')
LINKED = TEXT + 'lab.receiver_kernel = "6.1"\n'
STOCK = LINKED.replace('flavor = "sack"', 'flavor = "linux-reno"')


@dataclass(frozen=True)
class Made:
    """A kernel that is its name."""

    name: str

    @property
    def folder(self) -> Path:
        return Path(self.name)

    @property
    def identity(self) -> str:
        return self.name

    def fitted(self, wanted: Plan) -> Plan:
        return wanted


def kernels(name: str | None, options: Sequence[str] = (), *, linked: bool = False) -> TrialKernel:
    return Made(f"{name} linked") if linked else OwnKernel()


def names(folder: Path, text: str) -> list[str]:
    path = write_small(folder, text)
    return [trial.name for trial in planned(experiment.load(path), path, kernels=kernels)]


def test_both_kernels_have_the_wire_and_are_in_the_name(tmp_path: Path) -> None:
    path = write_small(tmp_path, LINKED)
    [trial] = planned(experiment.load(path), path, kernels=kernels)
    assert (trial.kernel, trial.receiver) == (Path("None linked"), Path("6.1 linked"))
    assert "6.1 linked" in trial.network_key
    three = [names(tmp_path, text) for text in (TEXT, LINKED, LINKED.replace("6.1", "7.3"))]
    assert len({name for [name] in three}) == 3


def test_a_trial_without_it_has_no_receivers_kernel(tmp_path: Path) -> None:
    path = write_small(tmp_path, TEXT)
    [trial] = planned(experiment.load(path), path, kernels=kernels)
    assert (trial.kernel, trial.receiver) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"iperf"', '"wrk"', "workload.kind: it is wrk, but with lab.receiver_kernel it must be"),
        (
            "mss_bytes = 1024",
            "mss_bytes = 1024, coalesce_us = 10",
            "topology.coalesce_us = 10: .* must be 0, because the wire .* single packets",
        ),
        ("delay_us = 5_000", "delay_us = 0", "topology.delay_us = 0: .* at least 100, because"),
        ("delay_us = 5_000", "delay_us = 99", "topology.delay_us = 99: .* at least 100, because"),
        (
            "lab.receiver_kernel",
            'record.trace = ["tcp:tcp_probe"]\nlab.receiver_kernel',
            "record.trace: not with lab.receiver_kernel",
        ),
        ("mss_bytes = 1024", "mss_bytes = 1024, loss = { share = 0.01 }", "topology.loss: it is"),
        (
            'kind = "drop-tail", limit_packets = 9',
            'policy = "plain", buffer_cells = 300',
            "queue.kind = cells: .* a queue of packets",
        ),
    ],
)
def test_what_cannot_be_parted_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        names(tmp_path, LINKED.replace(old, new))


def test_the_least_delay_is_allowed(tmp_path: Path) -> None:
    assert names(tmp_path, LINKED.replace("delay_us = 5_000", "delay_us = 100"))


@dataclass(frozen=True)
class Older(Made):
    """A kernel that knows no sysctl."""

    def fitted(self, wanted: Plan) -> Plan:
        flavor = replace(wanted.tcp.flavor, sysctl={})
        return replace(wanted, tcp=replace(wanted.tcp, flavor=flavor))


def test_a_sysctl_that_only_the_senders_lack_stays_for_the_receivers(tmp_path: Path) -> None:
    path = write_small(tmp_path, LINKED + 'lab.kernel = "5.10"\n')

    def of_name(
        name: str | None, options: Sequence[str] = (), *, linked: bool = False
    ) -> TrialKernel:
        return Older("5.10") if name == "5.10" else Made(str(name))

    [trial] = planned(experiment.load(path), path, kernels=of_name)
    [whole] = planned(experiment.load(path), path)
    assert whole.plan.tcp.flavor.sysctl
    assert trial.plan.tcp == whole.plan.tcp


@pytest.mark.parametrize(
    ("receiver", "given", "said"),
    [
        ("6.1", {"lab": "vm"}, "lab.receiver_kernel = 6.1 works only in the uml lab of this"),
        ("six", {}, "lab.receiver_kernel = six: this name is not known"),
        ("", {}, 'lab.receiver_kernel = "": this name is not known'),
        ("path:linux", {}, "lab.receiver_kernel = path:linux: the build runs files"),
        ("git:.@HEAD", {}, "lab.receiver_kernel = git:.@HEAD: the build runs files"),
    ],
)
def test_a_refusal_names_the_key_of_the_file(
    tmp_path: Path, receiver: str, given: dict[str, Any], said: str
) -> None:
    path = write_small(tmp_path, LINKED.replace("6.1", receiver))
    with pytest.raises(UsageError) as refused:
        Experiment.from_file(path).prepare(tmp_path / "out", **given)
    assert f": {said}" in str(refused.value)
    assert "lab.kernel" not in str(refused.value)
    assert "wire" not in str(refused.value)


@pytest.fixture
def with_wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels with the wire that nobody has built."""

    def linked(name: str) -> Kernel:
        return Kernel(
            folder=tmp_path, name=f"{name} somewhere", version="6.1", release="6.1.1", source="",
            left_out=[], lacks=[], sysctls=[], no_module="",
        )  # fmt: skip

    monkeypatch.setattr(store, "linked", linked)
    monkeypatch.setattr(store, "found", lambda *_, **__: None)
    monkeypatch.setattr(paths, "content", lambda *_: "built")


@pytest.mark.usefixtures("with_wire")
@pytest.mark.parametrize(
    ("given", "said"),
    [({"clock": "real"}, "not with --clock real"), ({"gdb": "tcp_ack"}, "not with --gdb, which")],
)
def test_what_two_labs_do_not_have_is_refused(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=f"lab.receiver_kernel: {said}"):
        Experiment.from_text(STOCK).prepare(tmp_path / "out", **given)


@pytest.mark.usefixtures("with_wire")
def test_a_sentence_about_a_kernel_has_the_name_that_the_file_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Experiment.from_text(STOCK.replace("6.1", "9.9")).prepare(tmp_path / "out")
    said = capsys.readouterr().err
    assert "kernel 9.9: without net.ipv4." in said
    assert "somewhere" not in said
    with pytest.raises(UsageError, match=r"kernel 6.12 \(6.1.1\) has no module cellbed_tcp"):
        Experiment.from_text(LINKED).prepare(tmp_path / "out")


def test_a_prompt_has_one_kernel(tmp_path: Path) -> None:
    path = write_small(tmp_path, LINKED)
    with pytest.raises(UsageError, match=r"line \d+: lab.receiver_kernel: not in ./cellbed shell"):
        shell.command.main([str(path)], standalone_mode=False)


def test_a_prompt_says_that_it_has_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_small(tmp_path, STOCK.replace("lab.receiver_kernel", "lab.kernel"))
    monkeypatch.setattr(shell, "run_shell", lambda *_: None)
    shell.command.main([str(path)], standalone_mode=False)
    assert "the prompt's lab runs its own kernel, not 6.1\n" in capsys.readouterr().err


def test_a_prompt_has_no_module_of_a_persons_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.bpf.c").touch()
    flavor = f'flavor = "{own.PREFIX}{tmp_path}/mine.bpf.c"'
    path = write_small(tmp_path, TEXT.replace('flavor = "sack"', flavor))
    monkeypatch.setattr(shell, "run_shell", lambda *_: None)
    with pytest.raises(UsageError, match=r"shell cannot run mine\.bpf\.c, because its lab"):
        shell.command.main([str(path)], standalone_mode=False)
