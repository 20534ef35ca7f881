# SPDX-License-Identifier: GPL-2.0-only
"""Bad experiment files give one line that names the file, the key and what is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from plan.errors import UsageError
from tests.small import PROJECT, SMALL, TINY, small_trials, write_small

OF_A_STUDY = {"claims.toml", "sentences.toml", "topics.toml"}
"""Files beside the experiments of a study."""
MISTAKES = [
    ("name = ", "nme = ", "nme: this key is unknown; it must be one of name, title"),
    ('policy = "epd"', 'policy = "edp"', "queue.policy"),
    ("buffer_cells = 300", "buffer_cells = 0", "queue.buffer_cells"),
    ("buffer_cells = 300", 'buffer_cells = "300"', "queue.buffer_cells"),
    ("threshold = 0.8", "threshold = 1.8", "queue.threshold"),
    ('name = "', 'name = "S ', "begin with a letter or digit"),
    ("topology.pairs = 4", 'topology.pairs = "4"', 'topology.pairs = "4": must be a whole number'),
    (
        "topology.pairs = 4",
        "topology.pair = 4",
        "topology.pair: this key is unknown; it must be one of pairs, ",
    ),
    (
        "topology.pairs = 4",
        "pairs = 4",
        "pairs: this key is unknown; it is a key of topology: write top",
    ),
    (", threshold = 0.8", "", "queue.threshold: this key is missing"),
    ("topology.pairs = 4", "topology.pairs = 4000", "topology.pairs = 4000: allowed are 1 to 1024"),
    ("topology.rate_bit_per_s = 45_000_000\n", "", "topology.rate_bit_per_s: this key is missing"),
    ('kind = "www"', 'kind = "ftp"', "workload.kind"),
    ("duration_s = 12.0", "duration_m = 12.0", "workload.duration_m: this key is unknown"),
    ('network = ["WAN", "GEO"]', 'network = ["WAN", "wan"]', "factors.network"),
    ('when = { flavor = "SACK" }', 'when = { flavour = "SACK" }', "when.flavour: no such factor"),
    ('when = { flavor = "SACK" }', 'when = { flavor = "FACK" }', "no such level"),
    ('when = { flavor = "SACK" }', 'when = { flavor = ["SACK", "FACK"] }', "= FACK: no such level"),
    ('when = { flavor = "SACK" }', "when = { flavor = [] }", "when.flavor: needs levels"),
    ('tcp.flavor = "sack"', 'tcp.flavor = "fack"', "fack: no such TCP flavor"),
    ("grow_app_limited = true", "grow_applimited = true", "grow_applimited"),
    ("[factors]", "[factors", "line 4: a heading is a name in brackets"),
    ("threshold = 0.8", "threshold = 1e-9", "queue.threshold = 1e-09: allowed are 1e-06 to 1"),
    ('policy = "epd"', 'policy = "sd", z = 1e-9', "queue.z = 1e-09: allowed are 1e-06 to 16"),
    (
        "queue_sample_ms = 100",
        "queue_sample_ms = 0.009",
        "queue_sample_ms = 0.009: allowed are 0, or 0.01",
    ),
    (
        "cwnd_sample_ms = 100",
        "cwnd_sample_ms = 1e-6",
        "cwnd_sample_ms = 1e-06: allowed are 0, or 0.1",
    ),
    ("duration_s = 12.0", "duration_s = inf", "base.workload.duration_s = inf: must be a finite"),
    ("pairs = 4\n", f"pairs = 1{'0' * 400}\n", "base.topology.pairs: a number has at most 64 bits"),
    ("pairs = 4\n", f"pairs = 1{'0' * 5000}\n", "line 8: a number has at most 64 bits"),
    ("pairs = 4\n", f"pairs = {'[' * 5000}\n", "tables and lists are nested deeper than 16"),
    ("pairs = 4\n", "pairs" + ".a" * 40 + " = 4\n", "tables and lists are nested deeper than 16"),
    # tomllib alone would take it for hours.
    (
        "pairs = 4\n",
        "pairs" + " . 'a'" * 100_000 + " = 4\n",
        "tables and lists are nested deeper than 16",
    ),
    ('kind = "www"', "kind = [1]", "workload.kind = [1]"),
    ("[[rule]]", 'tcp.sysctl.tcp_sack = "1\\u0000"\n[[rule]]', "tcp.sysctl.tcp_sack: '1\\x00'"),
    ('tcp.flavor = "sack"', 'tcp.flavor = "x.toml"', "tcp.flavor = x.toml: no such TCP flavor"),
    ('tcp.flavor = "sack"', 'tcp.flavor = ["sack", "fack"]', "tcp.flavor = fack: no such TCP"),
    ('tcp.flavor = "sack"', "tcp.flavor = []", "tcp.flavor: the list has 0 flavors; with"),
    ('tcp.flavor = "sack"', "tcp.flavor = 5", "tcp.flavor = 5: it must be one of bbr, cubic"),
    ('tcp.flavor = "sack"', 'tcp.flavor = ["sack", 5]', "tcp.flavor, value 2 = 5: must be a text"),
    ("[[rule]]", 'record.sojourn = "down"\n[[rule]]', 'must be a list; write ["down"]'),
    ("[[rule]]", 'record.pcap = ["up", "dow"]\n[[rule]]', "record.pcap, value 2 = dow: it must be"),
    (
        'tcp.flavor = "sack"',
        f"tcp.flavor = {['sack'] * 5}",
        "tcp.flavor: the list has 5 flavors; with topology.pairs = 4, allowed are 1 to 4",
    ),
    ('tcp.flavor = "sack"', 'tcp.flavor = ["sack", "bbr"]', "flavor bbr has no module parameters"),
    (
        'title = "a',
        'title = "a\\n',
        "title: 'a\\n small experiment for the tests': a text has one line",
    ),
    ("[[rule]]", "[[only]]\nnetwork = []\n[[rule]]", "only 1: network: needs levels"),
    ("[[rule]]", "tcp.sysctl.tcp_sacked = 1\n[[rule]]", "tcp_sacked: flavor newreno does not"),
]


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistake_gives_one_line(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    text = SMALL.replace(right, wrong, 1) if right == "[[rule]]" else SMALL.replace(right, wrong)
    if right == 'network = ["WAN", "GEO"]':
        text = text.replace('network = "GEO"', 'network = "WAN"')
    assert text != SMALL
    path = write_small(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        planned(experiment.load(path), path)
    message = str(caught.value)
    assert said in message and "\n" not in message
    assert str(path) in message
    assert len(getattr(caught.value, "__notes__", [])) == (", line " in message)


LEVELS = [
    (f"[1{'0' * 400}]", "factors.x: a number has at most 64 bits"),
    ("[nan, nan]", "factors.x = nan: must be a finite number"),
    ("[1, 1.0]", "factors.x: 1.0 is the same level as 1; remove"),
    ('["1", 1]', 'factors.x: 1 is the same level as "1"; remove'),
    ('["EPD", "epd"]', 'factors.x: "epd" is the same level as "EPD"; remove'),
    ("[]", "factors.x = []: a factor needs at least one level"),
    ('["a\\u0000b"]', "factors.x: 'a\\x00b': a text has one line"),
    ('["a\\nb"]', "factors.x: 'a\\nb': a text has one line"),
    ('[".EPD"]', "factors.x: '.EPD': a name must have 1 to 64 printable characters"),
    ('["-x"]', "factors.x: '-x'"),
    ('["../x"]', "factors.x: '../x'"),
    ('[""]', "factors.x: ''"),
    ('["a,b"]', "factors.x: 'a,b'"),
    ('["a\\u200b"]', "factors.x: 'a\\u200b'"),
    (f'["{"a" * 65}"]', "factors.x: 'aaa"),
    ("[1979-05-27]", "factors.x: level 1 = 1979-05-27 must be one value"),
    (f"[{', '.join(map(str, range(1001)))}]", "factors.x: 1001 levels, at most 1000"),
    ('["b"]\n"" = ["c"]', "factors.: ''"),
    ('["b"]\n"a=b" = ["c"]', "factors.a=b: 'a=b'"),
]


@pytest.mark.parametrize(("levels", "said"), LEVELS)
def test_a_level_that_names_nothing_is_refused(tmp_path: Path, levels: str, said: str) -> None:
    path = write_small(tmp_path, SMALL.replace("[factors]", f"[factors]\nx = {levels}"))
    with pytest.raises(UsageError) as caught:
        planned(experiment.load(path), path)
    line = 6 if "\n" in levels else 5  # where the name of the second factor is wrong
    assert str(caught.value).startswith(f"{path}, line {line}: {said}")


def test_two_large_levels_are_two(tmp_path: Path) -> None:
    text = SMALL.replace("[factors]", f"[factors]\nx = [{2**53}, {2**53 + 1}]")
    text += f"[[rule]]\nwhen = {{ x = {2**53} }}\nset.workload.period_s = 20\n"
    path = write_small(tmp_path, text)
    assert len(planned(experiment.load(path), path, [f"x={2**53}"])) == 4


@pytest.mark.parametrize(
    ("factors", "seeds", "said"),
    [
        ("".join(f"f{n} = [1, 2]\n" for n in range(20)), 1, "combinations of levels, at most"),
        (
            f"topology.access_delay_us = {list(range(1, 501))}\n",
            1000,
            "2000 combinations with 1000 seeds each: at most 100000",
        ),
        ("".join(f'f{n} = ["{"a" * 64}"]\n' for n in range(4)), 1, "at most 200 bytes"),
    ],
    ids=["cells", "trials", "name"],
)
def test_more_than_can_be_planned_is_refused(
    tmp_path: Path, factors: str, seeds: int, said: str
) -> None:
    path = write_small(tmp_path, SMALL.replace("[factors]\n", f"[factors]\n{factors}"))
    with pytest.raises(UsageError, match=said):
        planned(experiment.load(path), path, (), seeds)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('extends = "child.toml"', "a file cannot extend itself"),
        ('extends = "other.toml"', "other.toml extends a file itself, and only one file may"),
        ("extends = 5", "extends = 5: must be the name of a file"),
        ('extends = "a\\u0000"', "extends: 'a\\x00': a text has one line"),
        ('extends = ""', "must be a file, and this is none"),
        ('extends = "small.toml"\nfactors = 5', "factors = 5: "),
        ('extends = "small.toml"\nfactors.network = 5', "factors.network = 5: "),
        ('extends = "small.toml"\nrule = 5', "rule = 5: "),
    ],
)
def test_what_cannot_be_extended_is_refused(tmp_path: Path, line: str, said: str) -> None:
    write_small(tmp_path)
    child = tmp_path / "child.toml"
    child.write_text(f'{line}\nname = "child"\n' if "factors" in line else f"{line}\n")
    (tmp_path / "other.toml").write_text('extends = "child.toml"\n')
    with pytest.raises(UsageError) as caught:
        experiment.load(child)
    assert said in str(caught.value) and str(tmp_path) in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.toml")
    for path in (tmp_path, tmp_path / "fifo.toml", Path("/dev/zero")):
        with pytest.raises(UsageError, match="name a file of TOML"):
            experiment.load(path)
    large = tmp_path / "large.toml"
    large.write_text("#" * (2 << 20))
    with pytest.raises(UsageError, match="larger than 1048576 bytes"):
        experiment.load(large)


def test_levels_that_no_cell_has_together_are_refused() -> None:
    path = PROJECT / "studies" / "ubr_1996" / "ubr-persistent.toml"
    loaded = experiment.load(path)
    with pytest.raises(UsageError, match="--only network=LAN --only buffer=36000: .*no com"):
        planned(loaded, path, ["network=LAN", "buffer=36000"])


def test_an_experiment_without_factors_has_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(TINY.replace('flavor = ["SACK"]\n', ""))
    [only] = planned(experiment.load(path), path)
    assert only.name.startswith("s1-")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere.toml: No such file"):
        experiment.load(tmp_path / "nowhere.toml")


def test_every_experiment_of_the_project_is_complete() -> None:
    found = sorted((PROJECT / "studies").glob("*/*.toml"))
    files = [path for path in found if path.name not in OF_A_STUDY]
    assert files
    for path in files:
        assert planned(experiment.load(path), path)


def test_the_papers_factorial_has_72_cells_and_its_buffers() -> None:
    path = PROJECT / "studies" / "ubrplus_1998" / "ubrplus-www.toml"
    trials = planned(experiment.load(path), path)
    assert len(trials) == 72
    buffers = {
        (t.factors["network"], t.factors["buffer"]): t.plan.queue.down.buffer_cells for t in trials
    }
    assert buffers["WAN", 0.5] == 531 and buffers["GEO", 2] == 116_760
    assert {t.plan.tcp.ssthresh_segments for t in trials} == {55, 123, 337}


def test_levels_match_without_case_and_1_is_1_0(tmp_path: Path) -> None:
    assert len(small_trials(tmp_path, "network=geo", "flavor=sack,NEWRENO")) == 2
    path = PROJECT / "studies" / "ubrplus_1998" / "ubrplus-www.toml"
    loaded = experiment.load(path)
    assert len(planned(loaded, path, ["buffer=1.0", "network=wan"])) == 8


@pytest.mark.parametrize("only", ["network=MARS", "planet=GEO", "network"])
def test_wrong_only_says_what_there_is(tmp_path: Path, only: str) -> None:
    with pytest.raises(UsageError, match="WAN|network"):
        small_trials(tmp_path, only)


def test_a_trial_is_known_by_its_plan_and_code(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    loaded = experiment.load(path)
    first, again = (planned(loaded, path, code="a") for _ in range(2))
    assert [t.name for t in first] == [t.name for t in again]
    assert not {t.name for t in first} & {t.name for t in planned(loaded, path, code="b")}
    changed = write_small(tmp_path, SMALL.replace("buffer_cells = 29_190", "buffer_cells = 29_191"))
    other = {t.name for t in planned(experiment.load(changed), changed, code="a")}
    kept = {t.name for t in first} & other
    assert {name.split("-")[0] for name in kept} == {"WAN"} and len(kept) == 2


def test_an_experiment_extends_another(tmp_path: Path) -> None:
    write_small(tmp_path)
    child = tmp_path / "child.toml"
    child.write_text(
        'extends = "small.toml"\nname = "child"\n[factors]\nnetwork = ["GEO"]\npairs = [2, 3]\n'
        "[[rule]]\nwhen = { pairs = 2 }\nset = { topology.pairs = 2 }\n"
    )
    trials = planned(experiment.load(child), child)
    assert [t.plan.topology.pairs for t in trials] == [2, 4, 2, 4]
    assert {t.plan.topology.mss_bytes for t in trials} == {9180}


def test_a_parents_rule_is_for_those_of_its_levels_that_are_left(tmp_path: Path) -> None:
    parent = SMALL.replace('when = { flavor = "SACK" }', 'when = { flavor = ["SACK", "NewReno"] }')
    write_small(tmp_path, parent)
    child = tmp_path / "child.toml"
    child.write_text('extends = "small.toml"\nname = "child"\n[factors]\nflavor = ["SACK"]\n')
    assert {t.plan.tcp.flavor.name for t in planned(experiment.load(child), child)} == {"sack"}


def test_the_initial_window_can_be_set(tmp_path: Path) -> None:
    text = SMALL.replace("[[rule]]", "tcp.initial_window_segments = 3\n[[rule]]", 1)
    path = write_small(tmp_path, text)
    routes = [t.plan.tcp.flavor.route for t in planned(experiment.load(path), path)]
    assert all(r["server"]["initcwnd"] == 3 and r["client"]["initcwnd"] == 1 for r in routes)


@pytest.mark.parametrize("quickack", [True, False])
def test_whether_servers_acknowledge_at_once_can_be_set(tmp_path: Path, quickack: bool) -> None:
    key = f"tcp.server_quickack = {str(quickack).lower()}\n[[rule]]"
    path = write_small(tmp_path, SMALL.replace("[[rule]]", key, 1))
    routes = [t.plan.tcp.flavor.route for t in planned(experiment.load(path), path)]
    assert all(("quickack" in r["server"]) == quickack and r["client"]["quickack"] for r in routes)


def test_seeds_begin_where_the_file_says(tmp_path: Path) -> None:
    path = write_small(tmp_path, f"first_seed = 4711\nseeds = 2\n{TINY}")
    assert [t.plan.seed for t in planned(experiment.load(path), path)] == [4711, 4712]
    assert [t.plan.seed for t in planned(experiment.load(path), path, seeds=1)] == [4711]
    other = experiment.with_first_seed(experiment.load(path), 11)
    assert [t.plan.seed for t in planned(other, path)] == [11, 12]
    assert experiment.with_first_seed(other, None) is other
