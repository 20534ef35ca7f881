# SPDX-License-Identifier: GPL-2.0-only
"""A mistake in an experiment is told with its file, its line, and what to write (mistakes.txt)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.distinct import labels
from harness.design.positions import positions
from harness.design.trials import OwnKernel, TrialKernel, planned
from plan.errors import UsageError
from plan.plan import Plan
from tests.harness.cli.test_cli import cellbed
from tests.harness.design import mistakes
from tests.harness.design.mistakes import GOOD, NAME, Mistake
from tests.small import TINY

MISTAKES = list(mistakes.mistakes())
# What tomllib, and Python, would say.
PARSERS_WORDS = ["Expected", "Unclosed", "Invalid", "Unterminated", "Illegal", "Cannot", "column",
                 "statement", "array", "inline", "None", "dict", "<class"]  # fmt: skip


def load(folder: Path, data: bytes) -> experiment.Design:
    path = folder / NAME
    path.write_bytes(data)
    found = experiment.load(path)
    assert planned(found, path)
    return found


def test_there_are_many_and_the_right_file_is_right(tmp_path: Path) -> None:
    assert len(MISTAKES) > 90
    assert load(tmp_path, GOOD.encode()).name == "buffers"


@pytest.mark.parametrize("mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_has_its_message(mistake: Mistake, tmp_path: Path) -> None:
    assert mistake.text() != GOOD
    assert mistakes.told(mistake, tmp_path) == mistake


@pytest.mark.parametrize("mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_a_message_is_in_our_own_words_and_shows_the_line(mistake: Mistake) -> None:
    assert not [
        word
        for word in PARSERS_WORDS[:-1]
        if word in mistake.message.replace("True is no value", "")
    ]
    if ", line " in mistake.message:
        number = int(mistake.message.partition(", line ")[2].partition(":")[0])
        line = mistake.text().split("\n")[number - 1]
        assert mistake.note == f"{number:>5} | {line.expandtabs(4)}"
    else:
        assert ": this key is missing" in mistake.message


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace(" = ", "\t=\t").encode(),
    ],
    ids=["Windows line ends", "byte order mark", "tabs"],
)
def test_what_editors_leave_is_no_mistake(tmp_path: Path, data: bytes) -> None:
    assert load(tmp_path, data).name == "buffers"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD.encode("utf-16"), "buffers.toml: the file is in UTF-16: save it as UTF-8"),
        (GOOD.replace("costs", "kostet für").encode("latin-1"),
         "buffers.toml, line 2: a letter in this line is not in UTF-8: save the file as UTF-8"),
        (GOOD.replace("\n", "\r\n").replace("pairs = 4", "pairs = 4000").encode(),
         "buffers.toml, line 8: topology.pairs = 4000: allowed are 1 to 1024"),
        (GOOD.replace("\n", "\r").encode(),
         "line 1: a line ends with CR alone: save the file with the line ends of Unix"),
        (GOOD.replace("seeds = 2", "\fseeds = 2").encode(),
         "line 3: the line has the character U+000C (without a name): remove it"),
        (GOOD.replace("seeds = 2", "seeds = 2\u2028").encode(),
         "line 3: the line has the character U+2028 (line separator): remove it"),
        (b" \n\n", "buffers.toml: the file is empty"),
        (b'{"name": "buffers", "seeds": 2}',
         "buffers.toml, line 1: this is JSON, and the file must be TOML"),
        (GOOD.replace("what", "wh\0at").encode(),
         "line 2: the line has the character U+0000 (without a name): remove it"),
    ],
)  # fmt: skip
def test_other_encodings_are_told(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, data)
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ('""', 'topology.path: "": there is no such file in '),
        ('"dark.csv"', "topology.path: the path carries nothing for longer than 500 s"),
        ('{ kind = "gauss-markov", deviation_bit_per_s = 1, least_bit_per_s = 46_000_000 }',
         "topology.path.least_bit_per_s = 46000000: must be at most topology.rate_bit_per_s"),
        ('"far.csv"', "topology.path: the round trip would take 10.00002 s; with workload.kind ="),
    ],
)  # fmt: skip
def test_a_mistake_in_a_path_has_the_line_of_the_path(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "dark.csv").write_text("time_s,outage\n0,1\n")
    (tmp_path / "far.csv").write_text("time_s,delay_us\n0,5000000\n1,6000000\n")
    with pytest.raises(UsageError, match=rf"{NAME}, line 8: {re.escape(said)}"):
        load(tmp_path, GOOD.replace("pairs = 4", f"path = {path}, pairs = 4").encode())


def test_all_kernels_are_named_before_any_is_built(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(GOOD.replace("buffer = [", 'lab.kernel = ["6.1", "nope"]\nbuffer = ['))
    built = []

    class Kernel(OwnKernel):
        def fitted(self, wanted: Plan) -> Plan:
            built.append(wanted)
            return wanted

    def kernels(name: str | None, options: Sequence[str] = ()) -> TrialKernel:
        if name == "nope":
            raise UsageError("kernel nope: this name is not known")
        return Kernel()

    with pytest.raises(UsageError, match=rf"{NAME}, line 5: lab.kernel = nope"):
        planned(experiment.load(path), path, kernels=kernels)
    assert not built


def test_a_mistake_in_the_file_that_is_extended_bears_its_name(tmp_path: Path) -> None:
    (tmp_path / "parent.toml").write_text(GOOD)
    child = 'extends = "parent.toml"\nname = "child"\n'
    more = "[[rule]]\nwhen = { buffer = 250 }\nset = { queue.buffer_cells = 0 }\n"
    with pytest.raises(UsageError, match=rf"{NAME}, line 5: queue.buffer_cells = 0: allowed are"):
        load(tmp_path, (child + more).encode())
    with pytest.raises(UsageError, match=rf"{NAME}, line 4: rule 3: when.bufer: no such factor"):
        load(tmp_path, (child + more.replace("buffer = 250", "bufer = 250")).encode())
    (tmp_path / "parent.toml").write_text(GOOD.replace("pairs = 4", "pairs = 0"))
    with pytest.raises(UsageError, match=r"parent.toml, line 8: topology.pairs = 0: allowed are"):
        load(tmp_path, child.encode())


def test_a_file_that_is_extended_may_have_too_long_a_name(tmp_path: Path) -> None:
    data = f'extends = "{"a" * 300}"\n{GOOD}'.encode()
    with pytest.raises(UsageError, match=rf"{NAME}, line 1: extends = a+: there is no such file"):
        load(tmp_path, data)


def test_the_line_stands_below_the_message(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(GOOD.replace("pairs = 4", "pairs = 4000"))
    done = cellbed("run", NAME, "--dry-run", cwd=tmp_path)
    message, line, end = done.stderr.split("\n")
    assert message == f"cellbed: {NAME}, line 8: topology.pairs = 4000: allowed are 1 to 1024"
    assert line.startswith("    8 | topology = { pairs = 4000, rate") and end == ""


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ('buffer = [500]',
         "factors.buffer = 500: the factor buffer sets nothing, because no [[rule]] names it; it is"
         " only a label in the results"),
        ('policy = ["epd"]',
         "factors.policy = epd: the factor policy sets nothing, because no [[rule]] names it; it is"
         " only a label in the results (to set a key, name the factor queue.policy)"),
        ('buffer = [500]\nwho = ["I"]',
         "factors.buffer = 500: the factors buffer and who set nothing, because no [[rule]] names"
         " them; they are only labels in the results"),
    ],
)  # fmt: skip
def test_a_factor_that_sets_nothing_is_told(tmp_path: Path, levels: str, said: str) -> None:
    head, rest = TINY.split('flavor = ["SACK"]')
    (tmp_path / NAME).write_text(head + levels + rest)
    done = cellbed("run", NAME, "--dry-run", cwd=tmp_path)
    line = head.count("\n") + 1
    assert (done.returncode, done.stderr) == (0, f"{NAME}, line {line}: {said}\n")


def test_a_factor_that_sets_something_is_not_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(GOOD)
    found = experiment.load(tmp_path / NAME)
    assert labels(found, tmp_path / NAME) == ""
    one = GOOD.replace("[250, 1000]", "[250]").partition("[[rule]]\nwhen = { buffer = 1000 }")[0]
    (tmp_path / NAME).write_text(one)
    assert labels(experiment.load(tmp_path / NAME), tmp_path / NAME) == ""


def leaves(value: object, name: str = "") -> list[str]:
    """The dotted name of each value in tables and lists."""
    if isinstance(value, dict):
        return [leaf for key, one in value.items() for leaf in leaves(one, f"{name}.{key}")]
    if isinstance(value, list):
        return [leaf for n, one in enumerate(value) for leaf in leaves(one, f"{name}.{n}")]
    return [name.removeprefix(".")]


ODD = r'''
a."b.c" = [ # a list
  1, "]", '#', { x = 1, y.z = [2, 3] },
]
t = """two
lines \" of text""" # and
u = 'C:\x'
d = 1979-05-27 07:32:00
[[many.parts]]
k = 1
[many.parts.below]
k = 2
[[many.parts]]
k = 3
'''


def test_each_key_has_its_line() -> None:
    found = positions(ODD)
    assert set(leaves(tomllib.loads(ODD))) <= set(found)
    lines = {"a.b.c.3.y.z.1": 3, "t": 5, "u": 7, "d": 8, "many.parts.1.k": 14}
    assert {name: found[name] for name in lines} == lines
    assert found["many.parts.0.below"] == 11
