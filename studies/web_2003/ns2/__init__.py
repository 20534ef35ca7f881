# SPDX-License-Identifier: GPL-2.0-only
"""The same traffic in ns-2 2.35, the source's simulator, as a witness beside the kernel.

traffic     a trace of the project as ns-2 reads it, and the rate of a link that carries it alike
options     a trial's plan in the words of web.tcl
web.tcl     links, queues, senders, and the exchanges of a trace
simulate    runs it; what became of each exchange
tables, long, long_numbers   what the README shows of it
witness     what `./cellbed study witness web_2003` runs and keeps

Debian has ns-2 2.35: apt-get install ns2.
"""
