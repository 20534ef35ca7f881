# SPDX-License-Identifier: GPL-2.0-only
"""Named random streams: each draw of a trial comes from the trial's seed and a name.

Two trials with the same seed offer the same load, whatever their flavor, policy or buffer (common
random numbers). One more draw in one stream never shifts another stream.
"""

import hashlib
import random


def stream(seed: int, *names: str | int) -> random.Random:
    """Return the generator that belongs to `seed` and `names`, always in the same first state.

    Draw with `random()` only. Its sequence is the same in all Python versions; Python does not
    promise this for `randrange`, `choice` or `shuffle`.
    """
    # repr keeps ("a", "b") and ("ab",), 1 and "1" apart.
    text = repr((int(seed), *names)).encode()
    return random.Random(int.from_bytes(hashlib.blake2b(text, digest_size=32).digest(), "big"))
