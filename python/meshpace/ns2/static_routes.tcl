# Static routes for ns-2.35's mobile nodes, which have none: DSDV tables that are filled before the radio is used and
# never change again.
#
# The nodes' routing agents only listen. They are taught by agents of no node, one for each node of each route but the
# first, which carry that node's address and are wired to the node before it on that route. The last of a route announces itself,
# once; the others, which never do, pass on at once that one destination (DSDV's triggered updates). So every table
# has the destinations of the routes with the next hops that the routes say, and the neighbours that told of them.

Agent/DSDV set perup_ 100000000  ;# one announcement within 2 s of the start, no other, and what is learnt never expires
Agent/DSDV set wst0_ 0           ;# no settling time
Agent/DSDV set use_mac_ 0        ;# no feedback of lost frames

# Teaches each node on `routes`, lists of indices into the global array `node`, the way to the last node of the list.
# From a node to a destination all routes must have one next hop. To be called after the nodes are made; returns the
# time from which the radio may be used.
proc static_routes {routes} {
    global ns node
    foreach i [array names node] {
        set listener($i) [$node($i) set ragent_]
        lappend listeners $listener($i) [$listener($i) target]
        $listener($i) target [new Agent/Null]
    }
    foreach route $routes {
        set hearers [list $listener([lindex $route 0])]
        foreach i [lrange $route 1 end] {
            set teacher [new Agent/DSDV]
            set address [$node($i) node-addr]
            $teacher addr $address
            $teacher set agent_addr_ $address
            $teacher set agent_port_ 255
            set fan [new Classifier/Replicator]
            foreach hearer $hearers { $fan installNext $hearer }
            $teacher target $fan
            set hearers [list $teacher $listener($i)]
        }
        $ns at 0.0 "$teacher start-dsdv"
    }
    # 2 s, then at most 10 ms a hop, and DSDV counts no more than 249; what the listeners would pass on comes within a
    # second or two.
    $ns at 8.0 [list connect_radio $listeners]
    return 9.0
}

proc connect_radio {listeners} {
    foreach {agent radio} $listeners { $agent target $radio }
}
