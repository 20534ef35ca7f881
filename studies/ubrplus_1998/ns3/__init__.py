# SPDX-License-Identifier: GPL-2.0-only
"""The study's trials in ns-3, a simulator of packets, as a witness beside the kernel.

dumbbell.cc  hosts, the link of cells and its queue, and the exchanges of a schedule
options      a trial's plan in the words of dumbbell.cc
program      compiles it and runs it
witness      what `./cellbed study witness ubrplus_1998` runs and keeps
tables       the README's table

Debian has ns-3: apt-get install g++ libns3-dev.
"""
