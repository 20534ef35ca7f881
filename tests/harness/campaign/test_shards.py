# SPDX-License-Identifier: GPL-2.0-only
"""An experiment in parts, and the campaign that is made of them (over a lab of paper)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.campaign_file import read_header
from harness.campaign.campaign import CampaignRun
from harness.campaign.merge import Merged, merge
from harness.campaign.unfinished import listed
from harness.design.shard import Shard, parse
from harness.design.trials import PlannedTrial
from harness.records import record
from harness.records.seal import LATER
from harness.runners.options import Options
from plan.errors import UsageError
from tests.paper import PaperLab
from tests.small import small_trials


@pytest.fixture
def trials(tmp_path: Path) -> list[PlannedTrial]:
    return small_trials(tmp_path, seeds=5)


def run(folder: Path, shard: Shard, trials: list[PlannedTrial], **header: Any) -> Path:
    """The campaign of a shard."""
    said = {"name": "small", **header}
    made = folder / shard.folder
    CampaignRun(made, shard.of(trials), said, Options(lab="paper"), every=trials).run()
    return made


def all_of(folder: Path, trials: list[PlannedTrial], count: int = 3) -> list[Path]:
    return [run(folder, Shard(number=i + 1, count=count), trials) for i in range(count)]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of all records."""
    records = folder / "trials"
    return {str(x.relative_to(records)): x.read_bytes() for x in records.rglob("*") if x.is_file()}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20, 33])
def test_every_trial_is_in_one_shard(trials: list[PlannedTrial], count: int) -> None:
    shards = [Shard(number=i + 1, count=count).of(trials) for i in range(count)]
    names = [trial.name for shard in shards for trial in shard]
    assert sorted(names) == sorted(trial.name for trial in trials)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_shard_has_trials_of_several_cells(tmp_path: Path) -> None:
    """Also where the number of shards is that of the cells."""
    trials = small_trials(tmp_path, seeds=40)
    for number in (1, 2, 3, 4):
        found = Shard(number=number, count=4).of(trials)
        assert len({json.dumps(dict(trial.factors)) for trial in found}) == 4
        assert found == [trial for trial in trials if trial in found]


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/", "/2", "1/0", "a/b", "1/2/3", "-1/3",
                                  "1/100001", "1 / 3", "", "١/٣"])  # fmt: skip
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match="write NUMBER/COUNT, as 3/100"):
        parse(text)


def test_its_folder_sorts_as_its_number() -> None:
    assert parse("7/100").folder == "007-of-100" and parse("1/1").folder == "1-of-1"


def test_merged_shards_are_the_campaign(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    shards = all_of(tmp_path / "shards", trials)
    into = tmp_path / "all"
    assert merge(into, shards) == Merged(copied=len(trials))
    found: dict[str, bytes] = {}
    for shard in shards:
        found |= contents(shard)
    assert contents(into) == found and len({x.partition("/")[0] for x in found}) == len(trials)
    header = read_header(into)
    assert [x.trial for x in header.trials or ()] == [trial.name for trial in trials]
    assert all(entry.counts for entry in header.trials or ())
    paper.tried.clear()
    whole = CampaignRun(into, trials, {"name": "small"}, Options(lab="paper"))
    assert len(whole.run()) == len(trials) and not paper.tried  # nothing is run again


def test_a_merge_while_shards_run(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """It takes what is whole; the next one takes the rest."""
    shards = all_of(tmp_path, trials)
    left = sorted((shards[1] / "trials").iterdir())[0]
    writing = left.with_name(f".{left.name}.partial")
    left.rename(writing)
    first = merge(tmp_path / "all", shards)
    assert first.missing == [left.name] and first.copied == len(trials) - 1
    assert first.unfinished == [2]
    assert first.refused == []
    writing.rename(left)
    assert merge(tmp_path / "all", shards) == Merged(copied=1, there=len(trials) - 1)


def test_a_shard_that_was_lost_is_run_again(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """Of one that was killed only what has no record; another cut of the trials does as well."""
    shards = all_of(tmp_path / "shards", trials)
    before = {path.name for path in sorted((shards[2] / "trials").iterdir())[2:]}
    for path in (shards[2] / "trials").iterdir():
        if path.name not in before:
            shutil.rmtree(path)
    paper.tried.clear()
    run(tmp_path / "shards", Shard(number=3, count=3), trials)
    assert len(paper.tried) == 2 and before.isdisjoint(paper.tried)
    other = run(tmp_path / "other", Shard(number=1, count=2), trials)
    assert merge(tmp_path / "all", [*shards, other]) == Merged(
        copied=len(trials), there=len(Shard(number=1, count=2).of(trials))
    )


def test_a_record_that_was_judged_later(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """Its shard was killed between the record and the judgement, and has gone on."""
    one = run(tmp_path / "a", Shard(number=1, count=2), trials)
    judged = sorted(one.glob("trials/*/judgement.json"))[0]
    text = judged.read_text()
    judged.unlink()
    merge(tmp_path / "all", [one])
    judged.write_text(text)
    assert merge(tmp_path / "all", [one]).copied == 0
    assert contents(tmp_path / "all") == contents(one)


def test_a_damaged_record_is_not_copied(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    shards = all_of(tmp_path, trials)
    bad = sorted((shards[0] / "trials").iterdir())[0]
    with (bad / "flows.csv").open("ab") as stream:
        stream.write(b"x")
    found = merge(tmp_path / "all", shards)
    assert found.refused == [f"{bad} is damaged: flows.csv"] and found.missing == [bad.name]
    assert not list((tmp_path / "all" / "trials").glob(f"*{bad.name}*"))
    assert found.copied == len(trials) - 1


def test_two_records_of_one_trial_that_differ(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """In virtual time that must not be; the first one stays."""
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    other = run(tmp_path / "b", Shard(number=1, count=1), trials)
    bad = sorted((other / "trials").iterdir())[0]
    (bad / "flows.csv").write_text("pair\n")
    for name in LATER:
        (bad / name).unlink()
    record.seal(bad)
    found = merge(tmp_path / "all", [one, other])
    assert found.refused == [
        f"{bad} differs from {tmp_path / 'all' / 'trials' / bad.name} in flows.csv"
    ]
    assert contents(tmp_path / "all") == contents(one)


def refusal(into: Path, shards: list[Path]) -> str:
    """Why nothing is merged; nothing is made then."""
    before = sorted(into.parent.iterdir())
    with pytest.raises(UsageError) as caught:
        merge(into, shards)
    assert sorted(into.parent.iterdir()) == before
    return str(caught.value)


def test_folders_that_do_not_belong_together(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    one = run(tmp_path / "a", Shard(number=1, count=2), trials)
    other = run(tmp_path / "b", Shard(number=2, count=2), trials, name="other")
    into = tmp_path / "all"
    assert "belongs to the experiment other, and" in refusal(into, [one, other])
    assert "is no folder of results" in refusal(into, [tmp_path])
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "x").touch()
    assert "has files but no campaign.json" in refusal(tmp_path / "c", [one])


def test_shards_of_other_software(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """Some other plan of the same levels, as other software would have it."""
    one = run(tmp_path / "a", Shard(number=1, count=2), trials)
    path = one / "campaign.json"
    path.write_text(path.read_text().replace('"cell": "', '"cell": "0'))
    other = run(tmp_path / "b", Shard(number=2, count=2), trials)
    said = refusal(tmp_path / "all", [one, other])
    assert "were run with different settings or software" in said
    assert "run the older shard again" in said


def test_shards_of_other_levels(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Also where no cell has the levels of a cell of the other experiment."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one = run(tmp_path / "a", Shard(number=1, count=2), small_trials(tmp_path / "one"))
    others = [t for t in small_trials(tmp_path / "other") if dict(t.factors) != dict(
        small_trials(tmp_path / "one")[0].factors)]  # fmt: skip
    other = run(tmp_path / "b", Shard(number=1, count=1), others)
    assert "different settings or software" in refusal(tmp_path / "all", [one, other])


def test_the_shards_that_newer_software_ran_again(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """Merged into the old folder: what is there of the older software stays, and does not count."""
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    into = tmp_path / "all"
    merge(into, [one])
    header = into / "campaign.json"
    document = json.loads(header.read_text())
    for entry in document["trials"]:
        entry["cell"] = f"0{entry['cell']}"
        entry["trial"] = f"old-{entry['trial']}"
    header.write_text(json.dumps(document))
    for record_ in sorted((into / "trials").iterdir()):
        record_.rename(record_.with_name(f"old-{record_.name}"))
    assert merge(into, [one]) == Merged(copied=len(trials), older=len(trials))
    counting = [entry.trial for entry in read_header(into).trials or () if entry.counts]
    assert counting == [trial.name for trial in trials]


def test_one_bad_shard_keeps_none_from_being_merged(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    shards = all_of(tmp_path / "shards", trials)
    (shards[0] / "campaign.json").write_text("{")
    (shards[1] / "campaign.json").unlink()
    (tmp_path / "note.txt").touch()
    found = merge(tmp_path / "all", [*shards, tmp_path / "note.txt"])
    assert found.copied == len(Shard(number=3, count=3).of(trials)) and found.unfinished == [1, 2]
    assert len(found.no_shards) == 3 and "is not JSON" in found.no_shards[0]


def spoil(record_: Path, how: str, outside: Path) -> None:
    """Make a record bad in one way."""
    outside.write_text("a secret")
    judged = record_ / "judgement.json"
    if how == "pipe":
        os.mkfifo(record_ / "more.csv")
    elif how == "folder":
        (record_ / "more").mkdir()
    elif how == "dangling":
        (record_ / "more.csv").symlink_to(outside.with_name("nothing"))
    elif how == "judgement":
        judged.unlink()
        judged.symlink_to(outside)
    elif how == "name":
        record_.rename(record_.with_name("another"))
    elif how == "link":
        kept = outside.with_name("kept")
        record_.rename(kept)
        record_.symlink_to(kept)
    else:
        (record_ / "trial.json").write_bytes(b"\xff{")


@pytest.mark.parametrize(
    "how", ["pipe", "folder", "dangling", "judgement", "name", "link", "trial"]
)
def test_one_bad_record_keeps_none_from_being_copied(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial], how: str
) -> None:
    """Nothing of a link or a pipe is read."""
    one = run(tmp_path / "a", Shard(number=1, count=4), trials)
    bad = sorted((one / "trials").iterdir())[0]
    spoil(bad, how, tmp_path / "outside")
    found = merge(tmp_path / "all", [one])
    assert found.copied == len(Shard(number=1, count=4).of(trials)) - 1
    assert len(found.refused) == 1 and found.missing
    assert b"a secret" not in contents(tmp_path / "all").values()
    assert not list((tmp_path / "all" / "trials").glob(".*"))


def test_a_damaged_judgement_is_not_brought_over(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """To a record that is there already; it is judged anew there."""
    one = run(tmp_path / "a", Shard(number=1, count=4), trials)
    merge(tmp_path / "all", [one])
    name = sorted((one / "trials").iterdir())[0].name
    (tmp_path / "all" / "trials" / name / "judgement.json").unlink()
    (one / "trials" / name / "judgement.json").write_bytes(b"\xff")
    assert merge(tmp_path / "all", [one]).refused == []
    assert not (tmp_path / "all" / "trials" / name / "judgement.json").exists()


@pytest.mark.parametrize("how", ["bytes", "gone", "link", "file"])
def test_a_damaged_record_where_it_was_taken_to(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial], how: str
) -> None:
    """It is named, and not the good one of the shard; its trial counts as missing."""
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    into = tmp_path / "all"
    merge(into, [one])
    bad = sorted((into / "trials").iterdir())[0]
    if how == "bytes":
        (bad / "flows.csv").write_bytes(b"x")
    else:
        shutil.rmtree(bad)
    if how == "gone":
        bad.mkdir()
    elif how == "link":
        bad.symlink_to(tmp_path / "nothing")
    elif how == "file":
        bad.touch()
    found = merge(into, [one])
    assert found.missing == [bad.name] and found.there == len(trials) - 1
    assert len(found.refused) == 1 and str(into) in found.refused[0]


def test_a_merge_that_was_stopped_at_its_beginning(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    into = tmp_path / "all"
    into.mkdir()
    (into / "campaign.lock").touch()
    (into / ".campaign.json.host.1").touch()
    assert merge(into, [one]).copied == len(trials)
    (tmp_path / "file").touch()
    assert "is a file" in refusal(tmp_path / "file", [one])


def test_records_that_nobody_can_read(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """A record without its trial.json is named as any other damage."""
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    bad = sorted((one / "trials").iterdir())[0]
    (bad / "trial.json").unlink()
    found = merge(tmp_path / "all", [one])
    assert found.copied == len(trials) - 1 and str(bad / "trial.json") in found.refused[0]


def test_shards_of_several_seeds(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """What is missing then is no fault of one shard."""
    one = run(tmp_path, Shard(number=1, count=2), trials)
    (tmp_path / "fewer").mkdir()
    two = run(tmp_path, Shard(number=2, count=2), small_trials(tmp_path / "fewer", seeds=2))
    assert merge(tmp_path / "all", [one, two]).several_seeds
    assert not merge(tmp_path / "one", [one]).several_seeds


@pytest.mark.parametrize("commits", [5, "x", None, {"a": 1}])
def test_a_header_with_strange_commits(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial], commits: object
) -> None:
    one = run(tmp_path / "a", Shard(number=1, count=1), trials)
    header = one / "campaign.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "commits": commits}))
    into = tmp_path / "all"
    assert merge(into, [one]).copied == len(trials)
    (into / "campaign.json").write_text(header.read_text())
    assert merge(into, [one]).there == len(trials)


def test_which_shards_are_left(
    tmp_path: Path, paper: type[PaperLab], trials: list[PlannedTrial]
) -> None:
    """By the names of their folders; where a record is not of its shard, nothing is said."""
    shards = all_of(tmp_path / "shards", trials, count=7)
    found = merge(tmp_path / "all", [shards[0], *shards[3:6]])
    assert found.unfinished == [2, 3, 7] and listed(found.unfinished) == "2-3,7"
    moved = sorted((shards[0] / "trials").iterdir())[0]
    moved.rename(shards[3] / "trials" / moved.name)
    assert merge(tmp_path / "all", [shards[0], *shards[3:6]]).unfinished == []
    for name in ("mine", "1-of-0", "9-of-7"):
        shards[1] = shards[1].rename(tmp_path / name)
        assert merge(tmp_path / "all", [shards[1]]).unfinished == []


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([1, 2], "1-2"), ([1, 3], "1,3"), ([1, 2, 3, 7, 9, 10], "1-3,7,9-10")],
)
def test_numbers_as_a_job_array_takes_them(numbers: list[int], text: str) -> None:
    assert listed(numbers) == text
