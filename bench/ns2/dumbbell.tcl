# One flow of TCP/Linux over a wired bottleneck: ns dumbbell.tcl CONTROL MBPS DELAY_MS QUEUE SECONDS
#
#     s -- 100 Mbit/s, 1 ms -- r0 == MBPS, DELAY_MS, QUEUE packets == r1 -- 100 Mbit/s, 1 ms -- t
#
# CUBIC keeps 717/1024 of the window at a loss, as RFC 9438 has it and Linux since 2.6.27; that of ns-2 is older and keeps 819/1024.
# Each tenth of a second: time, window (segments), packets at the bottleneck, last segment acknowledged.
foreach {control mbps delay queue seconds} $argv break
set ns [new Simulator]
foreach n {s r0 r1 t} { set $n [$ns node] }
$ns duplex-link $s $r0 100Mb 1ms DropTail
$ns duplex-link $r0 $r1 ${mbps}Mb ${delay}ms DropTail
$ns duplex-link $r1 $t 100Mb 1ms DropTail
$ns queue-limit $s $r0 10000
$ns queue-limit $r0 $r1 $queue
$ns queue-limit $r1 $r0 10000
set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set packetSize_ 1460
$tcp set window_ 20000
$tcp set windowInit_ 2
set sink [new Agent/TCPSink/Sack1]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $s $tcp
$ns attach-agent $t $sink
$ns connect $tcp $sink
$ns at 0 "$tcp select_ca $control"
$ns at 0 "$tcp set_ca_default_param cubic beta 717"
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set monitor [$ns monitor-queue $r0 $r1 [open /dev/null w] 0.1]
proc sample {} {
    global ns tcp monitor
    puts "sample [format %.2f [$ns now]] [$tcp set cwnd_] [$monitor set pkts_] [$tcp set ack_]"
    $ns at [expr [$ns now] + 0.1] sample
}
$ns at 0 "$ftp start"
$ns at 0 sample
$ns at $seconds "exit 0"
$ns run
