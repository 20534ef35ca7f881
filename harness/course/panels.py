# SPDX-License-Identifier: GPL-2.0-only
"""The parts that a lab's picture can have. A lab's `picture` names them, in their order.

Each part draws below a height, and returns its own height and a sentence for a reader who does not
see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis.metrics import BITS_PER_BYTE, capacity_bit_per_s
from harness.course.canvas import BLUE, GREEN, ORANGE, PALE, WIDTH, Canvas
from harness.course.scene import Scene

Panel = Callable[[Canvas, Scene, float], tuple[float, str]]
MOST_SENDERS = 5
ROUNDS = 5


def network(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """Senders, the queue under test, the link and the clients."""
    canvas.title(top + 20, "The network")
    shown = min(scene.pairs, MOST_SENDERS)
    middle, step = top + 100, 26
    for place in range(shown):
        y = middle + (place - (shown - 1) / 2) * step
        dots = scene.pairs > MOST_SENDERS and place == shown - 2
        number = scene.pairs if place == shown - 1 else place + 1
        for x, name in ((16, "sender"), (614, "client")):
            if dots:
                canvas.words(x + 45, y + 4, "...", "middle")
                continue
            canvas.box(x, y - 10, 90, 20)
            canvas.words(x + 45, y + 4, f"{name} {number}", "middle")
        if not dots:
            canvas.line(106, y, 180, middle)
            canvas.line(570, middle, 614, y)
    canvas.box(180, middle - 30, 150, 60)
    for place in range(7):
        canvas.box(190 + 18 * place, middle - 14, 18, 28, BLUE if place > 2 else PALE)
    canvas.words(255, middle - 38, "switch with a queue", "middle")
    canvas.words(255, middle + 48, f"room for {scene.room}", "middle")
    canvas.arrow(330, middle, 530)
    canvas.words(430, middle - 10, scene.rate, "middle")
    canvas.words(430, middle + 20, scene.delay, "middle")
    canvas.box(530, middle - 16, 40, 32)
    canvas.words(550, middle + 36, "switch", "middle")
    sends, clients = ("sends", "client") if scene.pairs == 1 else ("send", "clients")
    return 180, (
        f"{scene.senders} {sends} {scene.segment} to {scene.pairs} {clients}. "
        f"A queue with room for {scene.room} is in front of a link of {scene.rate} ({scene.delay})."
    )


def doubling(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """The segments that slow start sends in each round trip."""
    canvas.title(top + 20, "Slow start: segments in each round trip")
    for turn in range(ROUNDS):
        y = top + 34 + 24 * turn
        number = 2**turn
        canvas.words(16, y + 14, f"round trip {turn + 1}")
        for place in range(number):
            canvas.box(110 + 30 * place, y, 26, 18, BLUE)
        canvas.words(120 + 30 * number, y + 14, str(number))
    counts = ", ".join(str(2**turn) for turn in range(ROUNDS))
    return 34 + 24 * ROUNDS + 10, f"Slow start sends {counts} segments in its first round trips."


def holes(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """The same, and those that are lost."""
    canvas.title(top + 20, "The windows of the first round trips; a cross is a lost segment")
    for turn in range(ROUNDS):
        y, first = top + 34 + 26 * turn, 2**turn - 1
        canvas.words(16, y + 15, f"round trip {turn + 1}")
        for place in range(2**turn):
            x, number = 110 + 36 * place, first + place
            (canvas.crossed if number in scene.lost else canvas.box)(x, y, 32, 20)
            canvas.words(x + 16, y + 15, str(number), "middle")
    lost = ", ".join(map(str, scene.lost))
    whose = "for example " if scene.draw else ""
    return 34 + 26 * ROUNDS + 10, (
        f"The windows hold segment 0; 1 and 2; 3 to 6; 7 to 14; 15 to 30. Three segments are lost, "
        f"{whose}{lost}."
    )


def torn(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """What three policies carry of a packet that finds no room for one of its cells."""
    canvas.title(top + 20, "One packet as cells, when one of its cells finds no room")
    cells, lost, width = 24, 8, 20
    rules = {
        "plain": ("loses this cell and carries the rest in vain", range(lost + 1, cells)),
        "PPD": ("loses this cell and the rest of the packet", range(0)),
        "EPD": ("refuses the whole packet at its first cell", range(0)),
    }  # fmt: skip
    for row, (name, (does, after)) in enumerate(rules.items()):
        y = top + 34 + 52 * row
        canvas.words(16, y + 15, name)
        for cell in range(cells):
            x = 110 + width * cell
            useless = name != "EPD" and cell < lost
            if useless or cell in after:
                canvas.box(x, y, width - 3, 20, ORANGE)
            elif cell == lost and name != "EPD":
                canvas.crossed(x, y, width - 3, 20)
            else:
                canvas.box(x, y, width - 3, 20, PALE)
        canvas.words(110, y + 36, does)
    y = top + 34 + 52 * len(rules)
    for x, fill, says in ((110, ORANGE, "carried in vain"), (290, PALE, "not carried")):
        canvas.box(x, y, 14, 14, fill)
        canvas.words(x + 22, y + 12, says)
    canvas.crossed(430, y, 14, 14)
    canvas.words(452, y + 12, "finds no room")
    return 34 + 52 * len(rules) + 26, (
        "A packet is a row of cells. One cell finds no room. Plain carries all other cells in "
        "vain, PPD only the cells before it, and EPD none."
    )


def shares(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """Whose packets are refused while the queue is above its threshold."""
    canvas.title(top + 20, "The queue is above its threshold. Who is refused?")
    cells = [9, 2, 5, 1, 3]
    fair = sum(cells) / len(cells) * 0.8
    base, unit = top + 140, 10
    for left, name, refused in (
        (60, "EPD: every sender", lambda _: True),
        (400, "SD: a sender above the line", lambda own: own > fair),
    ):
        for place, own in enumerate(cells):
            x, height = left + 48 * place, own * unit
            canvas.box(x, base - height, 32, height, ORANGE if refused(own) else GREEN)
            canvas.words(x + 16, base + 16, f"{place + 1}", "middle")
            says = "refused" if refused(own) else "let in"
            canvas.words(x + 16, base + 32, says, "middle", 10)
        canvas.words(left + 112, base + 54, name, "middle")
    canvas.line(390, base - fair * unit, 650, base - fair * unit, width=2)
    canvas.words(656, base - fair * unit + 4, "z X / N_a")
    canvas.words(16, base - 40, "cells")
    return 214, (
        "Bars show how many cells five senders have in a queue above its threshold. EPD refuses "
        "packets of all five. SD refuses only the two senders above z times an equal part, and "
        "lets the others in."
    )


def idle(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """How much of a round trip each sender's smallest window takes."""
    plan = min(scene.plans, key=lambda one: one.tcp.window_bytes)
    topology = plan.topology
    rate = capacity_bit_per_s(topology.mss_bytes, topology.rate_bit_per_s, topology.framing)
    busy_ms = plan.tcp.window_bytes * BITS_PER_BYTE / rate * 1e3
    round_ms = 2 * plan.topology.delay_ns / 1e6
    part, left, wide = busy_ms / round_ms, 110, WIDTH - 126
    canvas.title(
        top + 20, f"A round trip of a sender with a window of {plan.tcp.window_bytes} bytes"
    )
    canvas.words(16, top + 51, "the sender")
    canvas.box(left, top + 36, wide, 22, PALE)
    canvas.box(left, top + 36, wide * part, 22, BLUE)
    canvas.words(left + wide * part + 10, top + 51, "waits for the first acknowledgement")
    canvas.words(left, top + 76, f"sends for {busy_ms:.0f} ms of {round_ms:.0f} ms")
    return 92, (
        f"A sender with a window of {plan.tcp.window_bytes} bytes sends for {busy_ms:.0f} ms of a "
        f"round trip of {round_ms:.0f} ms, and then waits for the first acknowledgement."
    )


def queues(canvas: Canvas, scene: Scene, top: float) -> tuple[float, str]:
    """What four queues do with a packet."""
    canvas.title(top + 20, "Four queues, and a packet that comes from the left")
    room, x0, size = 12, 150, 24
    rows = (
        ("drop-tail", room, "full: the packet is lost", "lost"),
        ("ARED", 7, "not full: by chance the packet is lost", "lost"),
        ("ARED+ECN", 7, "not full: by chance the packet is marked", "marked"),
    )
    for row, (name, held, says, fate) in enumerate(rows):
        y = top + 36 + 36 * row
        canvas.words(16, y + 15, name)
        for place in range(room):
            canvas.box(x0 + size * place, y, size, 20, BLUE if place >= room - held else "#ffffff")
        if fate == "lost":
            canvas.crossed(x0 - 32, y, 20, 20)
        else:
            canvas.box(x0 - 32, y, 20, 20, ORANGE)
        canvas.words(x0 + size * room + 12, y + 15, says)
    y = top + 36 + 36 * len(rows)
    canvas.words(16, y + 24, "FQ-CoDel")
    for row, held in enumerate((6, 1, 2)):
        for place in range(held):
            canvas.box(x0 + size * (room - 1 - place), y + 14 * row, size, 12, BLUE)
    canvas.words(x0 + size * room + 12, y + 24, "a queue for each connection, in turn")
    return 36 + 36 * len(rows) + 52, (
        "Drop-tail loses a packet when the queue is full. ARED loses a packet by chance before the "
        "queue is full, and ARED with ECN marks it. FQ-CoDel has a queue for each connection and "
        "serves them in turn."
    )


PANELS: Mapping[str, Panel] = {
    panel.__name__: panel for panel in (network, doubling, holes, torn, shares, idle, queues)
}
