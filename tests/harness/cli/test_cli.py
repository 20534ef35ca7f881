# SPDX-License-Identifier: GPL-2.0-only
"""The command line: exit codes, one-line errors, JSON Lines."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli.program import main
from tests.analysis.synthetic import write_campaign
from tests.small import PROJECT, SMALL, write_small


def cellbed(*words: object, cwd: Path, **more: object) -> subprocess.CompletedProcess[str]:
    added = {name: str(value) for name, value in more.items()}
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), **added}
    return subprocess.run(
        [sys.executable, "-m", "harness", *map(str, words)],
        capture_output=True, text=True, cwd=cwd, env=environment, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL.replace("pairs = 4", "pair = 4"), "topology.pair: this key is unknown"),
        (SMALL.replace("rate_bit_per_s = 45_000_000", "rate_bit_per_s = 10"), "rate_bit_per_s"),
    ],
    ids=["unknown key", "out of range"],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path: Path, text: str, said: str) -> None:
    done = cellbed("run", write_small(tmp_path, text), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[0] and done.stderr.count("\n") == 2
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "smal"), "smal: No such file or directory; did you mean small.toml?"),
        (("run", "small.tml"), "small.tml: No such file or directory; did you mean small.toml?"),
        (("run", "else.toml"), "else.toml: No such file or directory"),
        (("run", "small.toml", "--kernel", ""), "--kernel: a name is empty; write NAME[,NAME]"),
        (
            ("run", "small.toml", "--kernel", "6.12,patch="),
            "kernel 6.12,patch=: patch=: there is no such file or folder",
        ),
    ],
)
def test_the_word_that_is_wrong_is_named(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    write_small(tmp_path)
    done = cellbed(*words, "--dry-run", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"cellbed: {said}\n")


def test_a_command_for_one_network_takes_one_level(tmp_path: Path) -> None:
    write_small(tmp_path)
    done = cellbed("shell", "small.toml", "--only", "network=WAN,GEO", cwd=tmp_path)
    said = "--only network=WAN,GEO: a prompt has one level; name one"
    assert (done.returncode, done.stderr) == (2, f"cellbed: {said}\n")


def test_an_experiment_of_no_study_has_no_model(tmp_path: Path) -> None:
    done = cellbed("study", "model", write_small(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith("study: this key is missing; only a study has a model\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "small.csv"), "small.csv is a file; name a folder that ./cellbed run has made"),
        (("anova", ".", "--response", "x", "--factors", "y"), ". is a folder; name a CSV file, as"),
    ],
)
def test_a_file_is_no_folder(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "small.csv").touch()
    done = cellbed(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"cellbed: {said}")


def test_a_study_that_does_not_exist_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(f'study = "nope"\n{SMALL}')
    done = cellbed("run", "small.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    said = "cellbed: small.toml, line 1: study = nope: this study does not exist; the studies are "
    assert done.stderr.startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fly",), "no such command 'fly'; see cellbed --help"),
        (("rnu",), "no such command 'rnu'. Did you mean 'run'? see cellbed --help"),
        (("setpu",), "no such command 'setpu'. Did you mean 'setup'? see cellbed --help"),
        (("run", "x.toml", "--sedes", "3"), "no such option '--sedes'. (Did you mean one of: '--s"),
        (("export", "x"), "the option --as is missing; it must be one of csv, flent, parquet, "),
        (("run",), "missing argument 'EXPERIMENT'; see cellbed run --help"),
        (("run", "x.toml", "--jobs", "0"), "'--jobs': 0: allowed are 1 to 256; see"),
        (("run", "x.toml", "--first-seed", "0"), "'--first-seed': 0: allowed are 1 to 1000000000"),
        (("run", "x.toml", "--zzz"), "no such option '--zzz'; see cellbed run --help"),
        (("run", "x.toml", "--seeds"), "option '--seeds' needs a value; see cellbed run --help"),
        (("run", "x.toml", "--seeds", "2", "--seeds=3"), "option '--seeds' is given twice; see"),
        (("course", "start", "1", "x", "--name", "a", "--name", "b"), "'--name' is given twice"),
        (("run", "x.toml", "--seeds", "1e3"), "'--seeds': '1e3' must be a whole number; see"),
        (("help",), "no such command 'help'. Did you mean '--help'? see cellbed --help"),
        (("version",), "no such command 'version'. Did you mean '--version'? see cellbed --help"),
        (("-V",), "no such option '-V'. Did you mean '--version'? see cellbed --help"),
        (("kernel",), "cellbed kernel: a command is missing; it must be one of build, list, rem"),
        (("selftests",), "missing argument 'TEST...'; see cellbed selftests --help"),
        (("selftests", "x", "--clock", "fast"), "cellbed: --clock fast: fast is no clock; write v"),
        (("selftests", "x", "--kernel", "7"), "cellbed: kernel 7: this name is not known; write o"),
        (("mininet", "/"), "cellbed: /: this is a folder; name a script in it"),
        (("flavors", "chek"), "no such command 'chek'. Did you mean 'check'?"),
        (("flavors", "check", "--plot", "x.doc"), "x.doc: the name must end with .png, .svg or ."),
        (("flavors", "check", "--plot", "no/x.png"), "--plot no/x.png: there is no folder no"),
        (("course", "start", "1", __file__, "--name", "x"), ".py is a file; name a new folder"),
        (("study", "verify", "ubr-1996"), "web_2003; did you mean ubr_1996?"),
        (("run", "a\nb\x1b[31m.toml"), r"a\nb\x1b[31m.toml: No such file"),
    ],
)
def test_every_message_has_one_form(
    words: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["cellbed", *words])
    assert main() == 2
    message = capsys.readouterr().err
    assert message.startswith("cellbed: ") and message.count("\n") == 1 and said in message


@pytest.mark.parametrize(
    ("value", "said"), [("-1", "-1.0: must be at least 0"), ("a", "'a' must be a number")]
)
def test_a_tolerance_is_refused_in_plain_words(
    value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cellbed", "compare", "x.toml", "--tolerance", value])
    assert main() == 130  # 128 and the code of the error: git bisect run stops
    message = f"invalid value for '--tolerance': {said}; see cellbed compare --help\n"
    assert capsys.readouterr().err == f"cellbed: {message}"


def test_without_a_command_it_prints_help(tmp_path: Path) -> None:
    done = cellbed(cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: cellbed" in done.stdout and "\n  run " in done.stdout


def test_a_kernel_that_is_not_known_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.replace("[base]", '[base]\nlab.kernel = "nope"', 1))
    line = SMALL.split("\n").index("[base]") + 2
    done = cellbed("run", "small.toml", "--dry-run", cwd=tmp_path)
    message, shown, _ = done.stderr.split("\n")
    said = f"cellbed: small.toml, line {line}: lab.kernel = nope: this name is not known; write one"
    assert done.returncode == 2 and message.startswith(said)
    assert shown.endswith('| lab.kernel = "nope"')
    (tmp_path / "empty.toml").write_text(SMALL.replace("[base]", '[base]\nlab.kernel = ""', 1))
    done = cellbed("run", "empty.toml", "--dry-run", cwd=tmp_path)
    assert f'empty.toml, line {line}: lab.kernel = "": this name is not known' in done.stderr
    done = cellbed("run", "small.toml", "--dry-run", "--kernel", "no", cwd=tmp_path)
    assert done.stderr.startswith("cellbed: kernel no: this name is not known; write one of ")


def test_the_version_is_that_of_the_project(tmp_path: Path) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert cellbed("--version", cwd=tmp_path).stdout == f"cellbed {project['version']}\n"
    citation = (PROJECT / "CITATION.cff").read_text().splitlines()
    assert f"version: {project['version']}" in citation


def test_python_has_the_library_at_hand(tmp_path: Path) -> None:
    """Also where a folder has the module's name."""
    (tmp_path / "cellbed").mkdir()
    (tmp_path / "script.py").write_text("import sys, cellbed; print(cellbed.__file__, sys.argv)")
    done = cellbed("python", "script.py", "--seeds", cwd=tmp_path)
    assert done.stdout == f"{PROJECT / 'cellbed.py'} ['script.py', '--seeds']\n"
    done = cellbed("python", "-c", "import cellbed; print(cellbed.__file__)", cwd=tmp_path)
    assert done.stdout == f"{PROJECT / 'cellbed.py'}\n"


def test_a_notebook_needs_the_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["cellbed", "notebook"])
    assert main() == 3
    said = capsys.readouterr().err
    assert said == "cellbed: Jupyter is not installed: run ./cellbed setup --library\n"


def test_native_labs_run_one_at_a_time(tmp_path: Path) -> None:
    words = ("run", write_small(tmp_path), "--lab", "native", "--dry-run", "--jobs")
    assert cellbed(*words, 1, cwd=tmp_path).returncode == 0
    done = cellbed(*words, 2, cwd=tmp_path)
    assert done.returncode == 2 and "--jobs 2" in done.stderr and done.stderr.count("\n") == 1


def test_dry_run_lists_and_makes_nothing(tmp_path: Path) -> None:
    done = cellbed("run", write_small(tmp_path), "--dry-run", "--seeds", 3, cwd=tmp_path)
    assert done.returncode == 0
    assert "12 trials, 12 to run" in done.stdout and "-s1-" in done.stdout
    assert not (tmp_path / "results").exists()


def test_the_first_seed_is_chosen(tmp_path: Path) -> None:
    words = ("run", write_small(tmp_path), "--dry-run", "--seeds", 2, "--first-seed", 11)
    done = cellbed(*words, cwd=tmp_path)
    assert done.returncode == 0 and "8 trials, 8 to run" in done.stdout
    assert [done.stdout.count(f"-s{seed}-") for seed in (1, 2, 11, 12, 13)] == [0, 0, 4, 4, 0]


NOT_BUILT = " is not built yet; without --dry-run, this command builds it first\n"
NOT_HERE = ", and its source is not here: a dry run does not ask whether Debian has it"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--trace", "tcp:tcp_probe"),
            "kernel 6.12,config=+FTRACE,config=+ENABLE_DEFAULT_TRACERS",
        ),
        (("--kernel", "6.12,hz=317"), "kernel 6.12,hz=317"),
        (("--kernel", "9.99"), f"kernel 9.99 is not built yet{NOT_HERE}"),
    ],
)
def test_dry_run_builds_no_kernel(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    words = ("run", write_small(tmp_path), "--dry-run", *words)
    done = cellbed(*words, cwd=tmp_path, CELLBED_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    end = NOT_BUILT.removeprefix(" is not built yet") if NOT_HERE in said else NOT_BUILT
    assert f"\n{said}{end}" in done.stdout and done.stdout.count("-?\n") == 4
    assert not list((tmp_path / "cache" / "kernels").iterdir())


def test_dry_run_refuses_a_module_that_lacks_its_c_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "Kbuild").write_text("obj-m := tcp_mine.o\n")
    words = ("--dry-run", "--trust-kernels", "--kernel", "6.12,hz=317,module=mine")
    done = cellbed("run", write_small(tmp_path), *words, cwd=tmp_path)
    said = "its Kbuild builds tcp_mine.o, and the folder has no tcp_mine.c; put this file into"
    assert done.returncode == 2 and said in done.stderr and not done.stdout


def test_dry_run_builds_no_layer(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    path = PROJECT / "examples" / "quic" / "web-quic.toml"
    done = cellbed("run", path, "--dry-run", cwd=tmp_path, CELLBED_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert f"\nthe lab's part for workload.kind = quic{NOT_BUILT}" in done.stdout
    assert [one.name for one in (tmp_path / "cache").iterdir() if one.name != "kernels"] == []


def anova(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    table = PROJECT / "studies" / "ubrplus_1998" / "published" / "results.csv"
    fixed = ("--response", "efficiency", "--factors", "tcp_flavor,drop_policy,buffer_rtt")
    return cellbed("anova", table, *fixed, "--where", "network=WAN", *words, cwd=folder)


def test_anova_takes_confidence_and_order(tmp_path: Path) -> None:
    default = json.loads(anova(tmp_path, "--json").stdout)
    done = json.loads(anova(tmp_path, "--json", "--confidence", "0.99", "--order", "1").stdout)
    assert (default["confidence"], done["confidence"]) == (0.9, 0.99)
    assert (len(default["components"]), len(done["components"])) == (6, 3)
    width = [x["effects"][0]["high"] - x["effects"][0]["low"] for x in (default, done)]
    assert width[1] > width[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--order", "3"), "cannot have interactions of 3 factors; allowed are 1 to 2"),
        (("--confidence", "90"), "the confidence is 90.0, but must be between 0 and 1"),
    ],
)
def test_anova_refuses_in_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = anova(tmp_path, *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_dry_run_without_any_record_knows_no_time(tmp_path: Path) -> None:
    done = cellbed("run", write_small(tmp_path), "--dry-run", cwd=tmp_path, CELLBED_CACHE=tmp_path)
    assert done.stdout.endswith("4 to run; the time is unknown: no trial like them has run here\n")


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:1"
    done = cellbed("run", write_small(tmp_path), "--scheduler", address, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"{address}: no Dask scheduler answers there" in done.stderr
    done = cellbed("run", write_small(tmp_path), "--scheduler", "here", "--jobs", 2, cwd=tmp_path)
    assert done.returncode == 2 and "--jobs" in done.stderr


@pytest.mark.parametrize("words", [("--dry-run", "--out"), ("--out",)])
@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_is_no_folder_for_results(tmp_path: Path, words: tuple[str, ...], out: str) -> None:
    (tmp_path / "file").touch()
    done = cellbed("run", write_small(tmp_path), *words, out, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"cellbed: the results cannot be written to {out} (file: this is a file); "
        "name another folder with --out\n",
    )


def test_a_page_of_an_empty_folder_says_what_it_waits_for(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "harness", "watch", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment) as page:
        assert page.stdout
        said = [page.stdout.readline(), page.stdout.readline()]
        page.terminate()
    assert said[0].startswith("Open http://")
    assert said[1] == (
        f"{tmp_path} has no campaign yet. The page waits until "
        f"./cellbed run EXPERIMENT --out {tmp_path} begins one.\n"
    )


@pytest.mark.parametrize("out", ["full"])
def test_an_unwritable_folder_is_one_line_that_names_the_option(tmp_path: Path, out: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full" / "campaign.lock").mkdir(parents=True)  # root may write anywhere else
    done = cellbed("run", write_small(tmp_path), "--out", out, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"the results cannot be written to {out} (" in done.stderr
    assert done.stderr.endswith("); name another folder with --out\n")


def test_a_dry_run_tells_that_the_folder_cannot_be_written(tmp_path: Path) -> None:
    done = cellbed("run", write_small(tmp_path), "--dry-run", "--out", "/proc/x", cwd=tmp_path)
    assert done.returncode == 2 and "4 trials, 4 to run" in done.stdout
    assert done.stderr.startswith("cellbed: the results cannot be written to /proc/x (/proc: ")
    assert done.stderr.endswith("); name another folder with --out\n")


def test_a_script_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    done = cellbed("python", "nofile.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cellbed: nofile.py: there is no such file; write ./cellbed py")
    assert done.stderr.count("\n") == 1
    (tmp_path / "file.py").write_text("print(6 * 7)")
    assert cellbed("python", "file.py", cwd=tmp_path).stdout == "42\n"
    assert cellbed("python", "-c", "print(1)", "nofile.py", cwd=tmp_path).stdout == "1\n"


@pytest.mark.parametrize("command", ["report", "judge", "watch"])
def test_an_experiment_is_no_folder_of_results(tmp_path: Path, command: str) -> None:
    experiment = write_small(tmp_path)
    done = cellbed(command, experiment, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"cellbed: {experiment} is an experiment, but this command needs the folder of its "
        f"results; ./cellbed run {experiment} makes that folder and prints its name at the end\n"
    )


def test_doctor_finds_this_machine_fit(tmp_path: Path) -> None:
    done = cellbed("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert {finding["state"] for finding in json.loads(done.stdout)} <= {"ok", "note"}


def test_doctor_says_what_the_native_lab_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.labs import native
    from harness.machine import doctor

    monkeypatch.setattr(native, "MODULE_STATE", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = {finding.what: finding for finding in doctor.examine("native")}
    assert found["root"].state == found["TCP module"].state == "missing"
    assert "sudo" in found["root"].remedy and "clean" in found["TCP module"].remedy
    assert "native lab" not in found


def test_clean_refuses_what_is_no_campaign(tmp_path: Path) -> None:
    done = cellbed("clean", "--results", tmp_path, cwd=tmp_path)
    assert done.returncode == 2 and "is not the folder of a campaign" in done.stderr
    assert tmp_path.exists()


def test_json_is_one_object_a_trial(finished: tuple[Path, list[dict]], tmp_path: Path) -> None:
    from harness.cli.result_table import json_line

    keys = {"trial", "factors", "seed", "efficiency", "fairness", "valid", "checks"}
    keys |= {"virtual_s", "wall_s", "cpu_s", "published"}
    for document in finished[1]:
        assert keys <= set(json.loads(json.dumps(json_line(document))))


def test_a_report_that_cannot_be_written_is_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {("WAN", "SACK", policy, 1.0): (0.9, 0.8) for policy in ("EPD", "SD")}
    campaign = write_campaign(tmp_path / "whole", seeds=(1,), cells=cells)
    monkeypatch.setattr(sys, "argv", ["cellbed", "report", str(campaign), "--out", "/dev/null/x"])
    assert main() == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("cellbed: /dev/null/x")
