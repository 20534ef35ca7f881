# SPDX-License-Identifier: GPL-2.0-only
"""The tables of verdicts, and of published cells that one seed of ours could not have given."""

from collections.abc import Sequence

from analysis.claims import Claim, Finding, Judged, Verdict
from analysis.draws import outside
from analysis.report.model import Column, Sheet, Value
from analysis.report.results import Results

Line = list[Value]
KINDS = ("direction", "size")


def claims(results: Results) -> Sheet:
    """Every claim and its verdicts, for the CSV."""
    columns = [
        Column(name=name, title=name.capitalize())
        for name in ("id", "source", "sentence", "reading")
    ]
    for method in results.findings:
        short = method.name.lower()
        columns += [
            Column(name=f"verdict_{short}", title=f"Verdict ({method.value})"),
            Column(name=f"evidence_{short}", title="Evidence"),
        ]
    for kind in KINDS:
        columns += [
            Column(name=kind, title=kind.capitalize()),
            Column(name=f"{kind}_evidence", title="Evidence"),
        ]
    rows = [_claim_row(same) for same in zip(*results.findings.values(), strict=True)]
    return Sheet(name="claims", caption="The claims and their verdicts", columns=columns, rows=rows)


def _claim_row(same: Sequence[tuple[Claim, Finding]]) -> Line:
    about, sharpest = same[-1]
    row: Line = [about.id, about.source, about.sentence, about.reading]
    for _, finding in same:
        row += [finding.verdict.value, finding.evidence]
    for judged in (sharpest.direction, sharpest.size):
        row += [judged.verdict.value, judged.evidence] if judged else [None, None]
    return row


def claims_by_variant(results: Results) -> Sheet:
    """Each claim's verdicts in every variant, for the CSV."""
    names = list(results.by_variant)
    columns = [Column(name="id", title="Id"), Column(name="source", title="Source")]
    columns += [Column(name=name, title=name) for name in names]
    columns += [
        Column(name=f"{name} {kind}", title=f"{name}, {kind}") for name in names for kind in KINDS
    ]
    rows: list[Line] = [
        [
            same[0][0].id,
            same[0][0].source,
            *(finding.verdict.value for _, finding in same),
            *(_word(one) for _, found in same for one in (found.direction, found.size)),
        ]
        for same in zip(*results.by_variant.values(), strict=True)
    ]
    return Sheet(
        name="claims-by-variant",
        caption="The verdicts on each claim in each variant",
        columns=columns,
        rows=rows,
    )


def _word(judged: Judged | None) -> str | None:
    return None if judged is None else judged.verdict.value


def verdicts_by_variant(results: Results) -> Sheet:
    """How many claims hold in each variant, and how many are other than in the first."""
    verdicts = list(Verdict)
    columns = [
        Column(name="variant", title="Variant"),
        *(Column(name=v.name.lower(), title=v.value.capitalize(), form="d") for v in verdicts),
        Column(name="other", title="Different from the first", form="d"),
    ]
    found = {
        name: [finding.verdict for _, finding in findings]
        for name, findings in results.by_variant.items()
    }
    first = next(iter(found.values()))
    rows: list[Line] = [
        [name, *map(of.count, verdicts), sum(a != b for a, b in zip(of, first, strict=True))]
        for name, of in found.items()
    ]
    return Sheet(
        name="verdicts-by-variant",
        caption="The verdicts on the claims by variant; the error comes from the seeds if there "
        "are two",
        columns=columns,
        rows=rows,
    )


def one_draw(results: Results) -> Sheet | None:
    """Of each variant and response, how many published cells one seed could not have given."""
    rows: list[Line] = [
        [name, response.name, found.cells, len(found.outside), found.by_chance, found.single]
        for name, cells in results.variants.items()
        for response in results.study.means
        if (found := outside(cells, response.name, response.known_to)) is not None and found.cells
    ]
    if not rows:
        return None
    columns = [
        Column(name="variant", title="Variant"),
        Column(name="response", title="Response"),
        Column(name="cells", title="Combinations", form="d"),
        Column(name="outside", title="Outside", form="d"),
        Column(name="by_chance", title="Expected by chance", form=".1f"),
        Column(name="one_seed", title="Combinations with one seed", form="d"),
    ]
    return Sheet(
        name="one-draw",
        caption="The number of published values that one of our seeds could not have given: they "
        "lie outside the 95 % prediction interval of one trial. The next column is the number that "
        "chance alone would give. A combination of levels with one seed has no such interval.",
        columns=columns,
        rows=rows,
        heads=2,
    )
