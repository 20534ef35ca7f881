# SPDX-License-Identifier: GPL-2.0-only
"""Video over HTTP/1.1: players that choose the bit rate of each segment, as dash.js and others do.

parameters  the keys of [workload]
video       the segments of the video: their sizes and their files
rules       three rules that choose a level, from published texts
player      a player's buffer, its stalls, and the moment of its next request
client      in the lab: the players of all pairs
tables      the tables that the client writes and the source reads
replay      computes each player's buffer again, in another way, its levels by the same rules,
            and its figures
source      runs it in a lab
checks      the checks of its trials
"""

from workload.dash.parameters import Parameters
from workload.dash.source import Source

__all__ = ["Parameters", "Source"]
