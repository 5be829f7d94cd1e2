# One scenario of the speed benchmark in ns-2.35.
#
#   ns mesh.tcl FILE.net static|aodv SECONDS WARMUP SEED
#
# Prints one line: "result RUN_WALL_S GOODPUT_BPS ...", one goodput a flow. The wall time is that of the traffic part.
# Static routes are those of `meshpace crosscheck`: DSDV tables that are filled before the radio is used. The wired part
# hangs behind the gateway's port demultiplexer, and the wired host's agent carries the gateway's address, so that flat
# addresses do for the mesh.

lassign $argv net routing seconds warmup seed
ns-random $seed

# Only the headers in use: each receiver in range gets a copy of all of them, so this is ns-2 at its fastest.
remove-all-packet-headers
add-packet-header IP TCP Flags LL ARP Mac AODV

# 250 m reception, 550 m carrier sense, capture from 10 dB.
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set freq_ 914e+6
Phy/WirelessPhy set L_ 1.0
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set CPThresh_ 10.0
Antenna/OmniAntenna set Z_ 1.5
Antenna/OmniAntenna set Gt_ 1.0
Antenna/OmniAntenna set Gr_ 1.0

# 802.11b with long preamble, RTS before every unicast frame.
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set PLCPDataRate_ 1.0e6
Mac/802_11 set basicRate_ 1.0e6
Mac/802_11 set dataRate_ 11.0e6
Mac/802_11 set RTSThreshold_ 0
Mac/802_11 set ShortRetryLimit_ 7
Mac/802_11 set LongRetryLimit_ 4

source [file join [file dirname [info script]] .. .. python meshpace ns2 static_routes.tcl]

# DSDV (not AODV) adds the IP header to TCP packets itself: 1500 and 40 bytes on the air either way.
if {$routing eq "static"} {
    Agent/TCP set tcpip_base_hdr_size_ 20
    set ack_size 20
    set protocol DSDV
} else {
    set ack_size 40
    set protocol AODV
}

array set x {}
array set y {}
set links {}
set flows {}
set file [open $net]
foreach line [split [read $file] "\n"] {
    switch -- [lindex $line 0] {
        node { lassign $line - i x($i) y($i); set x($i) [lindex $line 2]; set y($i) [lindex $line 3] }
        link { lappend links [lrange $line 1 end] }
        flow { lappend flows [lrange $line 1 end] }
        route { lassign $line - at to next; set route($at,$to) $next }
    }
}
close $file
set count [array size x]

set ns [new Simulator]
# Mobile nodes insist on a trace file for interface-queue drops, the one thing that cannot be switched off.
$ns trace-all [open /dev/null w]
set topography [new Topography]
$topography load_flatgrid 10000 10000
create-god $count
$ns node-config -adhocRouting $protocol -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topography \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $count} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {$x($i) + 1.0}]
    $node($i) set Y_ [expr {$y($i) + 1.0}]
    $node($i) set Z_ 0.0
}

# One direction of the wired path: a queue and a delay line for each link. Returns its entrance.
proc wired_path {links exit} {
    set next $exit
    foreach link [lreverse $links] {
        lassign $link - - mbps ms limit
        set queue [new Queue/DropTail]
        set line [new DelayLink]
        $queue set limit_ $limit
        $line set bandwidth_ [expr {$mbps * 1e6}]
        $line set delay_ [expr {$ms * 1e-3}]
        $queue target $line
        $line target $next
        $queue drop-target [new Agent/Null]
        set next $queue
    }
    return $next
}

if {[llength $links] > 0} {
    set gateway $node([lindex [lindex $links 0] 0])
    set host_ports [new Classifier/Port]
    set down [wired_path $links $host_ports]
    set up [wired_path [lreverse $links] [$gateway entry]]
}

# The mesh nodes that each flow passes, there and back.
proc mesh_routes {} {
    global route flows x
    set routes {}
    foreach flow $flows {
        lassign $flow at sink
        set path $at
        while {[info exists route($at,$sink)] && [info exists x($route($at,$sink))]} {
            set at $route($at,$sink)
            lappend path $at
        }
        lappend routes $path [lreverse $path]
    }
    return $routes
}
set begin [expr {$routing eq "static" ? [static_routes [mesh_routes]] : 1.0}]

set senders {}
foreach flow $flows {
    lassign $flow source sink start
    set tcp [new Agent/TCP/Newreno]
    $tcp set packetSize_ 1460
    $tcp set window_ 64
    set receiver [new Agent/TCPSink]
    $receiver set packetSize_ $ack_size
    $ns attach-agent $node($source) $tcp
    if {[info exists node($sink)]} {
        $ns attach-agent $node($sink) $receiver
    } else {
        # The wired host: attached to the gateway for its address and port, then moved behind the links.
        $ns attach-agent $gateway $receiver
        set port [$receiver set agent_port_]
        [$gateway demux] install $port $down
        $host_ports install $port $receiver
        $receiver target $up
    }
    $ns connect $tcp $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {$begin + $start}] "$ftp start"
    lappend senders $tcp
}

proc mark {} {
    global senders acked
    foreach tcp $senders { set acked($tcp) [$tcp set ack_] }
}
proc finish {} {
    global senders acked wall seconds warmup
    set wall [expr {([clock microseconds] - $wall) / 1e6}]
    set line "result $wall"
    foreach tcp $senders {
        append line " [expr {([$tcp set ack_] - $acked($tcp)) * 1460 * 8.0 / ($seconds - $warmup)}]"
    }
    puts $line
    exit 0
}
$ns at $begin {set wall [clock microseconds]}
$ns at [expr {$begin + $warmup}] mark
$ns at [expr {$begin + $seconds}] finish
$ns run
