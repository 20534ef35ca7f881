# SPDX-License-Identifier: GPL-2.0-only
"""Which tests run one after the other in one process, and which begin first.

What shares a fixture that costs a lab stays together: a module, all that use the same finished
trials, a fresh machine. With the longest first no processor waits for one at the end: by how
long they took the last time (kept in pytest's cache), else as listed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

DURATIONS = "cellbed/durations"
# Before anything is known, seconds.
GUESSES = {
    "tests/fresh/test_debian.py[bookworm]": 900.0,
    "tests/fresh/test_debian.py[trixie]": 900.0,
    "tests/labs/test_vm.py": 600.0,
    "tests/fresh/test_stranger.py": 300.0,
    "finished": 300.0,
    "tests/harness/campaign/test_killed.py": 300.0,
    "tests/harness/runners/test_cluster.py": 200.0,
    "tests/flavors/test_flavor_recoveries.py": 200.0,
    "tests/flavors/test_flavor_parameters.py": 200.0,
    "tests/bpf/test_lab_queue.py": 200.0,
    "tests/course/test_labs.py": 200.0,
    "tests/test_guides.py": 200.0,
    "tests/test_tutorial.py": 120.0,
}
# What `make check` leaves to `make test`: modules that take more than 3 s of a processor, single
# tests of others, and whatever needs a browser.
SLOW = {
    "tests/analysis/test_frames.py::test_of_the_harness_it_needs_the_kinds_of_captures_alone",
    "tests/analysis/test_predictions.py::test_every_variant_has_its_claims_and_predictions",
    "tests/analysis/test_predictions.py::test_steps_of_a_path_are_against_the_one_before",
    "tests/analysis/test_report.py",
    "tests/bpf/test_core.py",
    "tests/bpf/test_differential.py",
    "tests/flavors/test_flavor_network.py",
    "tests/flavors/test_flavor_oracle.py",
    "tests/fresh/test_debian.py",
    "tests/fresh/test_mirror.py",
    "tests/fresh/test_mirror_address.py",
    "tests/fresh/test_sentences.py",
    "tests/fresh/test_stranger.py",
    "tests/harness/api/test_export.py",
    "tests/harness/api/test_install.py",
    "tests/harness/api/test_library.py",
    "tests/harness/api/test_wheel.py",
    "tests/harness/campaign/test_full_disk.py",
    "tests/harness/campaign/test_shards.py",
    "tests/harness/cli/test_cli.py",
    "tests/harness/cli/test_completion.py",
    "tests/harness/cli/test_fuzz.py",
    "tests/harness/judge/test_judgement.py::test_another_check_is_another_version",
    "tests/harness/judge/test_judgement.py::test_report_judges_before_it_uses_a_record",
    "tests/harness/kernels/test_kernels.py::test_wrong_words",
    "tests/harness/runners/test_cluster.py",
    "tests/harness/runners/test_cluster_tls.py",
    "tests/studies/test_ubr_1996_report.py",
    "tests/studies/test_web_2003.py::test_the_report_has_the_slides_comparisons",
    "tests/test_order.py",
    "tests/test_site.py",
    "tests/test_skips.py",
    "tests/workload/packmime/test_packmime_trace.py",
    "tests/workload/packmime/test_packmime_programs.py",
    "tests/workload/test_programs.py",
    "tests/workload/www/test_www.py",
    "tests/workload/www/test_www_client.py",
}


def group(item: pytest.Item) -> str:
    """The name of the group that a test belongs to."""
    assert isinstance(item, pytest.Function)
    if "finished" in item.fixturenames:
        return "finished"
    module = item.nodeid.partition("::")[0]
    params = item.callspec.params if hasattr(item, "callspec") else {}
    release = params.get("fresh") or params.get("bare")
    return f"{module}[{release}]" if release else module


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    groups = [group(item) for item in items]
    for item, name in zip(items, groups, strict=True):
        item.add_marker(pytest.mark.xdist_group(name))
        if name == "finished":
            item.add_marker(pytest.mark.lab)
        names = {item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]}
        if names & SLOW or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.slow)
    cache = getattr(config, "cache", None)  # -p no:cacheprovider
    known = cache.get(DURATIONS, {}) if cache else {}
    order = longest_first(groups, [known.get(item.nodeid) for item in items])
    items[:] = [items[at] for at in order]


def longest_first(groups: Sequence[str], known: Sequence[float | None]) -> list[int]:
    """Places of the tests by group, those that take longest first; within a group as they were.

    Args:
        groups: of each test its group.
        known: of each test how long it took the last time [s].
    """
    took: dict[str, float] = {}
    for name, seconds in zip(groups, known, strict=True):
        took[name] = took.get(name, 0.0) + (seconds or 0.0)
    length = {name: seconds or GUESSES.get(name, 0.0) for name, seconds in took.items()}
    first = {name: at for at, name in reversed(list(enumerate(groups)))}
    return sorted(range(len(groups)), key=lambda at: (-length[groups[at]], first[groups[at]]))


class Durations:
    """Notes how long each test took, its fixtures included, for the next time."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache
        self.took: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("@")[0] or report.nodeid  # xdist adds its group
        self.took[name] = self.took.get(name, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        before: Mapping[str, float] = self.cache.get(DURATIONS, {})
        rounded = {name: round(seconds, 2) for name, seconds in self.took.items()}
        self.cache.set(DURATIONS, {**before, **rounded})


def pytest_configure(config: pytest.Config) -> None:
    cache = getattr(config, "cache", None)
    if cache and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(cache))
