# Helpers of the cases: one line per check on the console, and the topology srv - gw - cli.

say() { echo "test-vm: $*"; }

# check NAME CONDITION: an awk expression decides.
check() {
    local name=$1 condition=$2
    if awk "BEGIN { exit !($condition) }"; then say "ok $name ($condition)"; else say "FAILED $name ($condition)"; fi
}

# within NAME PERCENT A B: A is B, give or take.
within() { check "$1" "100 * ($3 - $4) <= $2 * $4 && 100 * ($4 - $3) <= $2 * $4"; }

clean_up() {
    for program in meshpaced nc babeld tcpdump python3 relay; do pkill $program 2>/dev/null; done
    sleep 0.3
    for namespace in $(ip netns list | cut -d' ' -f1); do ip netns del "$namespace"; done
}

on() { ip netns exec "$@"; }

# srv (wired, 192.0.2.0/24) - gw - cli (mesh, 10.0.0.0/24).
topology() {
    for namespace in srv gw cli; do
        ip netns add $namespace
        on $namespace ip link set lo up
    done
    ip link add wired0 netns gw type veth peer name eth0 netns srv
    ip link add mesh0 netns gw type veth peer name eth0 netns cli
    # Wire-size packets, as radios and NICs without offloads have them.
    on srv ip link set eth0 gso_max_segs 1
    on cli ip link set eth0 gso_max_segs 1
    on srv ip addr add 192.0.2.2/24 dev eth0
    on gw ip addr add 192.0.2.1/24 dev wired0
    on gw ip addr add 10.0.0.1/24 dev mesh0
    on cli ip addr add 10.0.0.2/24 dev eth0
    on srv ip link set eth0 up
    # Faster than any pace here, slower than the guest: what it computes takes the host's time.
    on srv tc qdisc add dev eth0 root netem rate 10mbit limit 1000
    on cli ip link set eth0 up
    on gw ip link set wired0 up
    on gw ip link set mesh0 up
    on srv ip route add default via 192.0.2.1
    on cli ip route add default via 10.0.0.1
    on gw sysctl -q -w net.ipv4.ip_forward=1
}

delay() { on "$1" tc qdisc replace dev eth0 root netem delay "$2" limit 10000; }

# configuration MODE DATAPATH [LINES...]
configuration() {
    local mode=$1 datapath=$2
    shift 2
    {
        echo "mode = \"$mode\""
        echo "datapath = \"$datapath\""
        printf '%s\n' "$@"
        echo '[mesh]'
        echo 'interfaces = ["mesh0"]'
        echo 'rate = "54Mbps"'
        echo '[hops]'
        echo 'sources = ["static"]'
        echo '[hops.static]'
        echo '"10.0.0.0/24" = 12'
        echo '[control]'
        echo 'socket = "/tmp/control"'
    } >/tmp/meshpaced.toml
}

# Starts meshpaced and waits until it says what it does; $pid is its process.
daemon() {
    # Not by `on`: in the background that would be a shell, and its number the one to signal.
    ip netns exec gw meshpaced gateway --config /tmp/meshpaced.toml >/tmp/daemon.log 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        grep -q 'meshpaced: .* on ' /tmp/daemon.log && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.2
    done
    cat /tmp/daemon.log
    return 1
}

# hops_told SOURCE: waits until the daemon has a flow whose hops that source told, and puts them into $told.
hops_told() {
    local flows
    for _ in $(seq 50); do
        flows=$(on gw meshpaced flows --json --socket /tmp/control 2>/dev/null | tr -d ' "\n')
        told=$(grep -o 'hops:[0-9]*,hop_source:[^,}]*' <<<"$flows" | head -1)
        test "${told#*hop_source:}" = "$1" && break
        sleep 0.2
    done
    say "told $told"
}

# bulk SECONDS [ADDRESS] [PORT]: one connection (iperf3 would make a second one) by which srv sends to cli as much as it can; prints bytes.
bulk() {
    # nc ends when its input does.
    sleep "$1" | on cli timeout "$1" nc -l -p "${3:-5001}" | wc -c &
    local sink=$!
    sleep 0.5
    on srv timeout "$1" nc "${2:-10.0.0.2}" "${3:-5001}" </dev/zero >/dev/null
    wait $sink
}

# The interval in force of the only flow, ns, as the kernel's programs read it.
interval() {
    bpftool -j map dump name paces 2>/dev/null | tr '{' '\n' |
        awk -F'"interval":' '/"interval":/ {split($2, part, ","); if (part[1] > 0) print part[1]}'
}
