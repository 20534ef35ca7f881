# SPDX-License-Identifier: GPL-2.0-only
"""The checks of its claims that are about windows, path and buffer."""

from analysis.cells import Cell, Levels
from analysis.claims.checks import holds, known_means, need
from analysis.claims.evidence import Evidence
from analysis.claims.findings import Finding
from studies.ubr_1996.path import (
    buffer_cells,
    full_queue_cells,
    lossless,
    path_cells,
    windows_cells,
)


def queue_is_sum_of_windows(evidence: Evidence, *, where: Levels, within_cells: int) -> Finding:
    """Where nothing is lost the largest queue is the windows' sum less what is on the path."""
    chosen = [cell for cell in _with_queue(evidence, where) if lossless(cell)]
    chosen = [cell for cell in chosen if full_queue_cells(cell)]
    need(chosen, "a cell without loss")
    worst, texts = 0, []
    for cell in chosen:
        peak = round(max(cell.values("peak_cells")))
        beyond = peak - (full_queue_cells(cell) or 0)
        worst = max(worst, abs(beyond))
        texts.append(
            f"{cell.name}: {peak} of {windows_cells(cell)} cells,"
            f" {path_cells(cell)} on the path ({beyond:+d})"
        )
    return Finding(verdict=holds(worst <= within_cells), evidence="; ".join(texts))


def queue_below_windows(evidence: Evidence, *, where: Levels) -> Finding:
    """No queue is ever longer than the sum of the windows."""
    chosen = _with_queue(evidence, where)
    need(chosen, "a cell")
    room = {cell.name: windows_cells(cell) - max(cell.values("peak_cells")) for cell in chosen}
    least = min(room, key=lambda name: room[name])
    text = f"{len(room)} rows; nearest {least}: {room[least]:.0f} cells below"
    return Finding(verdict=holds(room[least] >= 0), evidence=text)


def no_loss_with_buffer(evidence: Evidence, *, where: Levels) -> Finding:
    """A buffer of at least the sum of the windows loses nothing."""
    chosen = [cell for cell in evidence.of(where) if buffer_cells(cell) >= windows_cells(cell)]
    need(chosen, "a cell with buffer >= sum of windows")
    lost = {cell.name: round(sum(cell.values("lost_frames"))) for cell in chosen}
    text = "; ".join(f"{name}: {count} frames lost" for name, count in lost.items())
    return Finding(verdict=holds(not any(lost.values())), evidence=text)


def loss_without_buffer(evidence: Evidence, *, where: Levels) -> Finding:
    """A buffer short of what windows and path leave loses frames, in every trial."""
    chosen = [
        cell for cell in evidence.of(where) if buffer_cells(cell) < (full_queue_cells(cell) or 0)
    ]
    need(chosen, "a cell with a short buffer")
    none = [cell.name for cell in chosen if not all(cell.values("lost_frames"))]
    text = f"{len(chosen)} rows, {len(none)} of them without loss {' '.join(none)}".strip()
    return Finding(verdict=holds(not none), evidence=text)


def window_fills_link(evidence: Evidence, *, where: Levels, within: float) -> Finding:
    """One source has window / round trip of the link, or all of it with a larger window."""
    means = known_means(evidence.of(where), "efficiency")
    means.sort(key=lambda both: windows_cells(both[0]))
    need(means[1:], "two rows")
    worst, texts = 0.0, []
    for cell, found in means:
        expected = min(1.0, windows_cells(cell) / path_cells(cell))
        worst = max(worst, abs(found - expected))
        texts.append(f"{cell.levels['window']} bytes {found:.3f} (expected {expected:.3f})")
    sides = {windows_cells(cell) >= path_cells(cell) for cell, _ in means}
    need([1] if len(sides) == 2 else [], "windows on both sides of the round trip")
    return Finding(verdict=holds(worst <= within), evidence=", ".join(texts))


def none_starves(evidence: Evidence, *, where: Levels, least_share: float) -> Finding:
    """Every source of every trial receives at least a part of an equal share, from the start."""
    chosen = [
        (min(values), cell.name)
        for cell in evidence.of(where)
        if (values := cell.values("least_share"))
    ]
    need(chosen, "such a cell")
    least, name = min(chosen)
    text = f"the least source has {least:.3f} of an equal share ({name})"
    return Finding(verdict=holds(least >= least_share), evidence=text)


CHECKS = {
    check.__name__: check
    for check in (
        queue_is_sum_of_windows,
        queue_below_windows,
        no_loss_with_buffer,
        loss_without_buffer,
        window_fills_link,
        none_starves,
    )
}


def _with_queue(evidence: Evidence, where: Levels) -> list[Cell]:
    """The cells of which the queue's peak is known."""
    return [cell for cell in evidence.of(where) if cell.values("peak_cells")]
