# SPDX-License-Identifier: GPL-2.0-only
# Web traffic of a given trace over one link, in ns-2 2.35:
#   ns web.tcl OPTION VALUE ... > exchanges
# OPTIONS are the names of `option` below. The file `arrivals` has a line for each connection, in
# the order of their starts:
#   start [s], direction of the response (down or up), number, half of the round trip [s],
#   request [bytes], server's delay [s], response [bytes]
# It prints a line for each connection:
#   exchange DIRECTION NUMBER BEGUN LAST_BYTE SENT_BYTES TIMEOUTS ACKS RETRANSMITS MARKS
# The times are in seconds; LAST_BYTE is -1 where the response did not come. The rest is the
# server's: payload sent (more than the response where some was sent again), timeouts, packets
# without payload, segments that ns-2 counts as sent again, reductions for a mark. Then a line for
# each direction of the link:
#   queue DIRECTION ARRIVED DROPPED MARKED
array set option {
    arrivals {} rate 10e6 header 40 mss 1460 segments 44 first_window 2
    sender Reno queue DropTail limit 120 ecn 0 count_bytes 0
    tick 0.1 rto_min 0.2 rto_first 1.0 rto_data 3.0 rto_most 120 nodelay 1 ack_each 1
    wait 1 gentle 1 bottom 0.01 mean 0 seed 1 give_up 127 end 3600
}
foreach {name value} $argv {
    if {![info exists option($name)]} { error "unknown option $name" }
    set option($name) $value
}

# ---- senders ----
# A packet has `header` bytes beside its payload, on the link only: SACK's blocks add none, for in
# cells they fit into the two that any packet without payload has.
Agent/TCP set tcpip_base_hdr_size_ $option(header)
Agent/TCP/FullTcp/Sack set sack_option_size_ 0
Agent/TCP/FullTcp/Sack set sack_block_size_ 0
Agent/TCP/FullTcp set segsize_ $option(mss)
Agent/TCP set window_ $option(segments)
Agent/TCP set windowInit_ $option(first_window)
# An ACK for every segment, at once. ns-2 sends one when as many bytes came as the receiver's own
# segsize_ has, and what is shorter waits for a timer. So an end that only receives has 1 there.
Agent/TCP/FullTcp set segsperack_ 1
Agent/TCP/FullTcp set interval_ [expr {$option(ack_each) ? 0 : 0.1}]
# The last segment of a response, if it is short, waits for no ACK: servers set TCP_NODELAY.
Agent/TCP/FullTcp set nodelay_ $option(nodelay)
Agent/TCP set slow_start_restart_ false
Agent/TCP set tcpTick_ $option(tick)
Agent/TCP set minrto_ $option(rto_min)
Agent/TCP set maxrto_ $option(rto_most)
Agent/TCP set rtxcur_init_ $option(rto_first)
Agent/TCP set ecn_ $option(ecn)
set sender [expr {$option(sender) eq "Reno" ? "Agent/TCP/FullTcp" : "Agent/TCP/FullTcp/Sack"}]
# A new sender looks for each default in one class after the other, and most of the time of a run
# goes there. With all defaults in one place it takes a fifth of that.
foreach class [list $sender {*}[$sender info heritage]] {
    foreach name [$class info vars] {
        if {![info exists default($name)]} { catch { set default($name) [$class set $name] } }
    }
}
$sender instproc init-instvar name {
    global default
    $self instvar $name
    set $name $default($name)
}

# ---- the link ----
Queue/RED set adaptive_ 1
Queue/RED set bottom_ $option(bottom)
Queue/RED set gentle_ $option(gentle)
Queue/RED set wait_ $option(wait)
Queue/RED set bytes_ $option(count_bytes)
Queue/RED set queue_in_bytes_ $option(count_bytes)
Queue/RED set setbit_ $option(ecn)
Queue/RED set mean_pktsize_ \
    [expr {$option(mean) ? $option(mean) : $option(header) + $option(mss)}]
ns-random $option(seed)
# Packets of all of ns-2's headers cost most of the time.
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set node(server) [$ns node]
set node(client) [$ns node]
foreach {way from to} {down server client up client server} {
    $ns simplex-link $node($from) $node($to) $option(rate) 0ms $option(queue)
    # DropTail refuses the packet that would be the limit's last.
    set more [expr {$option(queue) eq "DropTail" ? 1 : 0}]
    $ns queue-limit $node($from) $node($to) [expr {$option(limit) + $more}]
    set monitor($way) [$ns monitor-queue $node($from) $node($to) ""]
}

# ---- connections ----
# A pair is two ends of a connection, each behind a delay. It carries a later connection when it
# has been closed for so long that no packet of the earlier one is on its way: half of the longest
# round trip is 1.75 s, and a full queue is sent in 0.2 s.
set quiet_s 3
set constant [new RandomVariable/Constant]
$constant set val_ 0
set pairs 0
set unused(down) {}
set unused(up) {}

proc pair {direction} {
    global ns unused quiet_s
    lassign [lindex $unused($direction) 0] closed pair
    if {$closed eq "" || $closed + $quiet_s > [$ns now]} { return [new_pair $direction] }
    set unused($direction) [lrange $unused($direction) 1 end]
    return $pair
}

proc new_pair {direction} {
    global ns agent app pairs
    set pair [incr pairs]
    new_end $pair server [expr {$direction eq "down" ? "server" : "client"}]
    new_end $pair client [expr {$direction eq "down" ? "client" : "server"}]
    $ns connect $agent($pair,client) $agent($pair,server)
    $app($pair,client) connect $app($pair,server)
    return $pair
}

proc new_end {pair end place} {
    global ns sender node agent app delay pair_of constant
    set new [new $sender]
    $ns attach-agent $node($place) $new
    # Between node and agent: what holds each packet for the same time.
    set element [new ErrorModel]
    $element set rate_ 1.0
    $element set delay_pkt_ true
    $element ranvar $constant
    $element target $new
    [$node($place) demux] install [$new set agent_port_] $element
    set agent($pair,$end) $new
    set delay($pair,$end) $element
    set app($pair,$end) [new Application/TcpApp $new]
    set pair_of($new) $pair
}

# ---- an exchange ----
proc begin {direction number half request server_delay response} {
    global ns agent app delay exchange open option
    set pair [pair $direction]
    $delay($pair,client) set delay_ $half
    $delay($pair,server) set delay_ $half
    sends $agent($pair,client) 1
    sends $agent($pair,server) 0
    $agent($pair,server) reset
    $agent($pair,server) listen
    set exchange($pair) [list $direction $number [$ns now] -1]
    set open($pair) 2
    $app($pair,client) send $request [list requested $pair $server_delay $response]
    $ns at [expr {[$ns now] + $option(give_up)}] [list give_up $pair $direction $number]
}

# A client whose SYN has had no answer for so long gives up; FullTcp would send it again for ever.
# Its pair is not used again: an answer may be on its way still.
proc give_up {pair direction number} {
    global agent exchange open
    if {[lrange $exchange($pair) 0 1] ne [list $direction $number] || $open($pair) < 2} return
    if {[$agent($pair,client) set ndatabytes_] > 0} return
    told $pair
    set open($pair) 0
    $agent($pair,client) reset
    $agent($pair,server) reset
    settled
}

proc sends {agent now} {
    global option
    $agent set segsize_ [expr {$now || !$option(ack_each) ? $option(mss) : 1}]
}

proc requested {pair server_delay response} {
    global ns agent
    sends $agent($pair,client) 0
    $ns at [expr {[$ns now] + $server_delay}] [list answer $pair $response]
}

proc answer {pair response} {
    global app agent option
    set server $agent($pair,server)
    sends $server 1
    # Without a sample of the round trip, as when the SYN/ACK was sent twice, data waits as long as
    # rto_data; ns-2 has one value for it and for the SYN. The next ACK ends this.
    if {[$server set srtt_] == 0} {
        $server set backoff_ [expr {round($option(rto_data) / $option(rto_first))}]
    }
    $app($pair,server) send $response [list answered $pair]
}

# The server's end closes first, as in the trace's load: by a packet of its own. ns-2 would forget
# what it has not sent yet if it were told so together with the response.
proc answered {pair} {
    global ns agent exchange
    lset exchange($pair) 3 [$ns now]
    settled
    $agent($pair,server) close
}

# One exchange fewer is awaited.
proc settled {} {
    global ns awaited
    if {![incr awaited -1]} { $ns at [expr {[$ns now] + 10}] finish }
}

Agent/TCP/FullTcp instproc done {} {
    global ns unused pair_of open exchange
    set pair $pair_of($self)
    if {[incr open($pair) -1]} return
    told $pair
    lappend unused([lindex $exchange($pair) 0]) [list [$ns now] $pair]
}

# What became of it, once.
proc told {pair} {
    global agent exchange
    set server $agent($pair,server)
    set counted {ndatabytes_ nrexmit_ nackpack_ nrexmitpack_ necnresponses_}
    puts "exchange $exchange($pair) [lmap name $counted {$server set $name}]"
}

proc finish {} {
    global open monitor
    foreach pair [array names open] {
        if {$open($pair) > 0} { told $pair }
    }
    foreach way {down up} {
        set counts [lmap name {parrivals_ pdrops_ pmarks_} {$monitor($way) set $name}]
        puts "queue $way $counts"
    }
    exit 0
}

# ---- the trace ----
proc next {} {
    global ns arrivals
    if {[gets $arrivals line] < 0} return
    set rest [lassign $line start]
    $ns at $start "begin $rest; next"
}

set arrivals [open $option(arrivals)]
set awaited 0
while {[gets $arrivals line] >= 0} { incr awaited }
seek $arrivals 0
next
$ns at $option(end) finish
$ns run
