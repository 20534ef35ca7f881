# SPDX-License-Identifier: GPL-2.0-only
"""Many sysctls at once: the same values, and the same failures, as one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import sysctls
from tests.harness.agent.script import told
from tests.harness.agent.sysctls_in_lab import WANTED


def test_an_answer_has_the_words_of_each_file() -> None:
    assert sysctls.answered("tcp_sack 1\ntcp_rmem 4096\t1 2\n") == {
        "tcp_sack": "1",
        "tcp_rmem": "4096 1 2",
    }


def test_an_answer_names_what_is_missing_or_refused() -> None:
    with pytest.raises(sysctls.MissingError, match="no sysctl tcp_no$"):
        sysctls.answered("tcp_no ?2\n")
    with pytest.raises(sysctls.RefusedError, match="of tcp_sack: Invalid argument$"):
        sysctls.answered("tcp_dsack 1\ntcp_sack !22\n")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script says of a lab."""
    return told("sysctls_in_lab.py", tmp_path_factory.mktemp("sysctls"))


@pytest.mark.lab
def test_the_namespace_has_the_values_and_no_other_has(found: dict[str, Any]) -> None:
    assert found["at once"], "the lab has not loaded the module"
    assert found["said"] == WANTED
    assert found["unchanged"]


@pytest.mark.lab
def test_the_answer_is_what_the_file_says_and_not_what_was_written(found: dict[str, Any]) -> None:
    assert found["answer"] == WANTED
    assert found["in part"] == found["each"] == {"tcp_rmem": "5000 70000 80000"}


@pytest.mark.lab
def test_a_missing_sysctl_is_named_and_nothing_is_written(found: dict[str, Any]) -> None:
    assert found["missing"] == ["MissingError", "this kernel has no sysctl tcp_no_such"]
    assert found["after missing"] == WANTED["tcp_sack"]
    assert found["refused"][0] == "MissingError", "all files are opened first"


@pytest.mark.lab
def test_a_refused_value_is_named(found: dict[str, Any]) -> None:
    words = "the kernel refused a value of tcp_sack: Invalid argument"
    assert found["refused later"] == ["RefusedError", words]
    assert found["after refused"] == "0"


@pytest.mark.lab
def test_only_sysctls_of_ipv4_are_written(found: dict[str, Any]) -> None:
    assert found["outside"] == ["OSError", "[Errno 22] Invalid argument"]
