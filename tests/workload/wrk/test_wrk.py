# SPDX-License-Identifier: GPL-2.0-only
"""wrk: the drawn file mix, the command, and reports read from verbatim output of wrk in a lab."""

from collections import Counter
from pathlib import Path

import pytest

from workload.errors import WorkloadError
from workload.wrk import wrk

DATA = Path(__file__).parent / "data"


def test_report():
    report = wrk.report((DATA / "wrk.txt").read_text())
    assert report == wrk.Report(
        duration_us=10003213,
        answered=369,
        received_bytes=33001406,
        connect_errors=0,
        read_errors=0,
        write_errors=0,
        status_errors=0,
        slow=0,
    )


def test_answers_that_are_errors_are_counted():
    report = wrk.report((DATA / "wrk_404.txt").read_text())
    assert report.status_errors == report.answered > 3900


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        ("", r"no report; .* is: \(none\)"),
        ("Running 10s test\nbad: 3\n", "no report; .* is: bad: 3"),
    ],
)
def test_no_report(stdout, message):
    with pytest.raises(WorkloadError, match=message):
        wrk.report(stdout)


def test_the_drawn_files_have_the_papers_mix():
    paths = wrk.draw_paths(wrk.Parameters(paths=50_000), 1, 1)
    classes = Counter(path[6] for path in paths)
    shares = [classes[str(number)] / len(paths) for number in range(5)]
    assert shares == pytest.approx([0.2, 0.28, 0.4, 0.112, 0.008], abs=0.009)
    files = [int(path[-1]) for path in paths]
    assert sum(files) / len(files) == pytest.approx(5, abs=0.04)


def test_draws_belong_to_seed_and_pair():
    params = wrk.Parameters(paths=50)
    assert wrk.draw_paths(params, 1, 1) == wrk.draw_paths(params, 1, 1)
    assert wrk.draw_paths(params, 1, 1) != wrk.draw_paths(params, 1, 2)
    assert wrk.draw_paths(params, 1, 1) != wrk.draw_paths(params, 2, 1)
    assert wrk.draw_paths(wrk.Parameters(paths=80), 1, 1)[:50] == wrk.draw_paths(params, 1, 1)


def test_write_paths_is_a_line_a_path(tmp_path):
    params = wrk.Parameters(paths=3)
    wrk.write_paths(tmp_path / "p", params, 1, 1)
    assert tuple((tmp_path / "p").read_text().splitlines()) == wrk.draw_paths(params, 1, 1)


def test_argv_ends_with_what_the_script_is_told():
    words = wrk.argv(wrk.Parameters(duration_s=7), "10.2.0.1", 80, Path("/run/p"))
    assert words[-4:] == ["http://10.2.0.1:80", "--", "/run/p", "128"]
    assert words[words.index("--duration") + 1] == "7s"
    assert Path(words[words.index("--script") + 1]).is_file()


@pytest.mark.parametrize(
    ("key", "value"), [("duration_s", 0), ("connections", 0), ("request_bytes", 20), ("paths", 0)]
)
def test_bad_parameters(key, value):
    with pytest.raises(ValueError, match=rf"^workload\.{key} = {value}: allowed are "):
        wrk.Parameters(**{key: value})


def test_unknown_poisson_fit():
    with pytest.raises(ValueError, match=r"^workload\.poisson_fit = x: it must be one of mean"):
        wrk.Parameters(poisson_fit="x")
