# SPDX-License-Identifier: GPL-2.0-only
"""TCP connections with exact losses, in a lab of their own.

Sender, router and receiver are three network namespaces; an eBPF program (bpf/loss/) drops
chosen segments at chosen sendings and keeps every segment and ACK. In virtual time a
connection takes some hundredths of a second.

    job      what is to be run, shared by both sides
    host     boots the lab and returns what each connection did
    lab      runs the job inside
    network  the three namespaces
    maps     the program's record
"""
