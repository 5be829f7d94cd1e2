# Helpers of the cases: one line per check on the console, and the topology srv - gw - cli.

say() { echo "test-vm: $*"; }

# check NAME CONDITION... : an awk expression over the given values decides.
check() {
    local name=$1 condition=$2
    if awk "BEGIN { exit !($condition) }"; then say "ok $name ($condition)"; else say "FAILED $name ($condition)"; fi
}

clean_up() {
    pkill meshpaced 2>/dev/null
    pkill iperf3 2>/dev/null
    sleep 0.3
    for namespace in $(ip netns list | cut -d' ' -f1); do ip netns del "$namespace"; done
}

on() { ip netns exec "$@"; }

# srv (wired, 192.0.2.0/24) - gw - cli (mesh, 10.0.0.0/24). $1: round trip on the mesh's side, $2: on the wired side.
topology() {
    for namespace in srv gw cli; do
        ip netns add $namespace
        on $namespace ip link set lo up
    done
    ip link add wired0 netns gw type veth peer name eth0 netns srv
    ip link add mesh0 netns gw type veth peer name eth0 netns cli
    # Wire-size packets, as radios and NICs without offloads have them.
    for pair in "srv eth0" "cli eth0" "gw wired0" "gw mesh0"; do
        set -- $pair "${@:1}"
        on "$1" ip link set "$2" gso_max_segs 1
        shift 2
    done
    on srv ip addr add 192.0.2.2/24 dev eth0
    on gw ip addr add 192.0.2.1/24 dev wired0
    on gw ip addr add 10.0.0.1/24 dev mesh0
    on cli ip addr add 10.0.0.2/24 dev eth0
    on srv ip link set eth0 up
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
        echo 'rate = "11Mbps"'
        echo '[hops]'
        echo 'sources = ["static"]'
        echo '[hops.static]'
        echo '"10.0.0.0/24" = 4'
        echo '[control]'
        echo 'socket = "/tmp/control"'
    } >/tmp/meshpaced.toml
}

daemon() {
    on gw meshpaced gateway --config /tmp/meshpaced.toml >/tmp/daemon.log 2>&1 &
    pid=$!
    sleep 1.5
    kill -0 $pid 2>/dev/null && return
    cat /tmp/daemon.log
    return 1
}

# download SECONDS [FLOWS]: srv sends to cli; prints received bit/s.
download() {
    on cli iperf3 -s -1 >/tmp/server.log 2>&1 &
    sleep 0.5
    on srv iperf3 -c 10.0.0.2 -t "$1" -P "${2:-1}" -C reno -J >/tmp/client.json 2>&1
    awk '/"sum_received"/ {found = 1} found && /"bits_per_second"/ {gsub(/[^0-9.e+]/, "", $2); print $2; exit}' /tmp/client.json
}

# The interval in force, ns, of the flow with the most acknowledged data, as the kernel's programs read it.
intervals() {
    bpftool -j map dump name paces 2>/dev/null | tr '{' '\n' |
        awk -F'"interval":' '/"interval":/ {split($2, part, ","); if (part[1] > 0) print part[1]}'
}
