# SPDX-License-Identifier: GPL-2.0-only
# ns-2's own RED at given arrivals: which of them does it drop?
#   ns queue.tcl ARRIVALS MEAN_BYTES LIMIT_PACKETS COUNT_BYTES GENTLE WAIT
# ARRIVALS has a line each: time [s] and bytes. The link sends a byte in a microsecond. Prints the
# numbers of those that were dropped, from 0.
lassign $argv arrivals mean limit bytes gentle wait
Queue/RED set adaptive_ 1
Queue/RED set mean_pktsize_ $mean
Queue/RED set bytes_ $bytes
Queue/RED set queue_in_bytes_ $bytes
Queue/RED set gentle_ $gentle
Queue/RED set wait_ $wait
Queue/RED set bottom_ 0.01
set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 8Mb 1ms RED
$ns queue-limit $from $to $limit
set sender [new Agent/UDP]
$sender set packetSize_ 65000
$ns attach-agent $from $sender
set sink [new Agent/Null]
$ns attach-agent $to $sink
$ns connect $sender $sink
$ns trace-queue $from $to [set trace [open "|awk {/^d/ {print \$11}}" w]]
set stream [open $arrivals]
while {[gets $stream line] >= 0} {
    lassign $line at size
    $ns at $at "$sender send $size"
}
$ns at [expr $at + 10] "$ns flush-trace; close $trace; exit 0"
$ns run
