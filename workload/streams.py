# SPDX-License-Identifier: GPL-2.0-only
"""Named random streams: every draw of a trial comes from its seed through a name.

Two trials with the same seed offer the same load whatever their flavor, policy or buffer (common
random numbers), and one more draw in one stream never shifts another.
"""

import hashlib
import random


def stream(seed: int, *names: str | int) -> random.Random:
    """Return the generator that belongs to `seed` and `names`, always in the same first state.

    Draw with `random()` only: its sequence is the same in every Python version, which is not
    promised of `randrange`, `choice` or `shuffle`.
    """
    # repr keeps ("a", "b") and ("ab",), 1 and "1" apart.
    text = repr((int(seed), *names)).encode()
    return random.Random(int.from_bytes(hashlib.blake2b(text, digest_size=32).digest(), "big"))
