# The rate of hosts found in the kernel: over a router behind the gateway that sends 2 Mbit/s from a queue of 100 packets, beside plain forwarding and
# the data path of NFQUEUE, in turns.
# At most 200 s of the guest's time.

# srv (192.0.2.0/24) - gw - hop - cli (10.0.0.0/24): what goes to cli waits at hop.
for namespace in srv gw hop cli; do
    ip netns add $namespace
    on $namespace ip link set lo up
    on $namespace sysctl -q -w net.ipv4.ip_forward=1
done
ip link add wired0 netns gw type veth peer name eth0 netns srv
ip link add mesh0 netns gw type veth peer name in0 netns hop
ip link add out0 netns hop type veth peer name eth0 netns cli
on srv ip link set eth0 gso_max_segs 1
on cli ip link set eth0 gso_max_segs 1
on srv ip addr add 192.0.2.2/24 dev eth0
on gw ip addr add 192.0.2.1/24 dev wired0
on gw ip addr add 10.1.0.1/30 dev mesh0
on hop ip addr add 10.1.0.2/30 dev in0
on hop ip addr add 10.0.0.1/24 dev out0
for host in 2 3 4; do on cli ip addr add 10.0.0.$host/24 dev eth0; done
on srv ip link set eth0 up
on gw ip link set wired0 up
on gw ip link set mesh0 up
on hop ip link set in0 up
on hop ip link set out0 up
on cli ip link set eth0 up
on srv ip route add default via 192.0.2.1
on gw ip route add 10.0.0.0/24 via 10.1.0.2
on hop ip route add default via 10.1.0.1
on cli ip route add default via 10.0.0.1
on srv tc qdisc add dev eth0 root netem rate 20mbit delay 5ms limit 1000
on hop tc qdisc add dev out0 root tbf rate 2mbit burst 3000 limit 150000
on cli tc qdisc add dev eth0 root netem delay 5ms limit 10000

# begins [DATAPATH]: plain forwarding, or the daemon.
begins() {
    pid=
    test "$1" = plain && return
    configuration pace "$1" '[hosts]' 'rate = "auto"' 'flows = "free"' "${@:2}"
    sed -i 's#^"10.0.0.0/24" = .*#"10.0.0.0/24" = 1#' /tmp/meshpaced.toml
    daemon || { say "FAILED the daemon does not start"; exit 1; }
    check "$1 is in force" "$(on gw meshpaced status --socket /tmp/control | grep -c "$1") > 0"
}

ends() {
    test -z "$pid" && return
    kill $pid
    wait $pid
    check "it ends in good order" "$? == 0"
}

# told KEY: a number of the daemon's report on hosts.
told() { on gw meshpaced status --json --socket /tmp/control | tr -d ' \n"' | grep -o "[{,]$1:[0-9.]*" | head -1 | cut -d: -f2; }

# alone PATH: a download by itself, and echoes beside it: kbit/s, median and 95th percentile of the echoes in ms.
alone() {
    begins "$1"
    bulk 12 10.0.0.2 5001 >/tmp/alone &
    local download=$!
    sleep 4.5
    local before after from until
    read -r from _ </proc/uptime; before=$(received)
    on srv ping -i 0.2 -c 32 10.0.0.2 >/tmp/echoes
    read -r until _ </proc/uptime; after=$(received)
    test -n "$pid" && say "$1: found $(told rate_bps) bit/s by $(told tcp) round trips, mesh wait $(told mesh_wait_s) s"
    test -n "$pid" && say "$(on gw meshpaced status --socket /tmp/control | grep -A5 '^hosts' | tr -s ' \n' ' ')"
    wait $download
    ends
    goodput=$(awk "BEGIN {print ($after - $before) * 8 / 1000 / ($until - $from)}")
    read -r median late < <(sed -n 's/.*time=\([0-9.]*\).*/\1/p' /tmp/echoes | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)], v[int(NR * 0.95)]}')
    say "$1: alone $goodput kbit/s on the way, echoes $median ms in the median, $late in 95 of 100"
}
received() { on cli cat /sys/class/net/eth0/statistics/rx_bytes; }

alone plain
plain=$goodput plain_echo=$median
alone ebpf
check "what is found carries what plain forwarding does" "$goodput >= 0.9 * $plain"
check "at less than half of its delay" "$median <= 0.5 * $plain_echo"
alone nfqueue

# Two hosts, one with four downloads.
two() {
    begins "$1"
    bulk 12 10.0.0.2 5001 >/tmp/one &
    local downloads=($!) port
    for port in 5011 5012 5013 5014; do
        bulk 12 10.0.0.3 $port >/tmp/four-$port &
        downloads+=($!)
    done
    wait "${downloads[@]}"
    one=$(cat /tmp/one)
    four=$(cat /tmp/four-* | awk '{sum += $1} END {print sum}')
    test -n "$pid" && say "$(on gw meshpaced status --socket /tmp/control | grep -A5 '^hosts' | tr -s ' \n' ' ')"
    ends
    say "$1: $one bytes to one host with one download, $four to another with four"
}
two plain
two ebpf
within "two hosts share what is found" 15 "$one" "($one + $four) / 2"
two nfqueue
