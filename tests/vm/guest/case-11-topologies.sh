# Gateways behind a VLAN, WireGuard and batman-adv: what forwards is to be named; where what carries it is named, that is doubted.
topology

# named INTERFACE: the daemon takes it for the mesh's.
named() {
    configuration observe nfqueue
    sed -i "s/^interfaces = .*/interfaces = [\"$1\"]/" /tmp/meshpaced.toml
    daemon || { say "FAILED the daemon does not start with $1"; exit 1; }
}

# doubted INTERFACE NAME ADDRESS SECONDS: with that interface the daemon sees no flow to the address, and says why.
doubted() {
    named "$1"
    bulk "$4" "$3" >/tmp/bytes &
    local bulk=$! doubts=
    for _ in $(seq 45); do
        doubts=$(on gw meshpaced status --json --socket /tmp/control 2>/dev/null | tr -d ' "\n' | grep -o 'name:[a-z-]*' | head -1)
        test -n "$doubts" && break
        sleep 0.2
    done
    local flows
    flows=$(on gw meshpaced flows --json --socket /tmp/control | tr -d ' "\n' | grep -o 'known:[0-9]*' | head -1)
    grep doubt /tmp/daemon.log
    check "$1: doubted as $2" "\"$doubts $flows\" == \"name:$2 known:0\""
    end_bulk $bulk
}

# seen INTERFACE ADDRESS: with that interface the daemon sees a flow to the address.
seen() {
    named "$1"
    bulk 4 "$2" >/tmp/bytes &
    local bulk=$!
    hops_told static
    check "$1: a flow is seen" "\"$told\" ~ /hop_source:/"
    end_bulk $bulk
}

end_bulk() {
    wait "$1"
    check "data arrive" "$(cat /tmp/bytes) > 10000"
    kill $pid
    wait $pid
}

# Hosts of all three networks are as far as 10.0.0.0/24 says.
eval "$(declare -f configuration | sed 's|10.0.0.0/24|10.0.0.0/16|')"

on gw ip link add link mesh0 name mesh0.7 type vlan id 7
on gw ip addr add 10.0.7.1/24 dev mesh0.7
on gw ip link set mesh0.7 up
on cli ip link add link eth0 name eth0.7 type vlan id 7
on cli ip addr add 10.0.7.2/24 dev eth0.7
on cli ip link set eth0.7 up
on cli ip route replace 192.0.2.0/24 via 10.0.7.1
doubted mesh0 interface-below 10.0.7.2 10
seen mesh0.7 10.0.7.2
on gw ip link del mesh0.7

for namespace in gw cli; do
    wg genkey >/tmp/$namespace.key 2>/dev/null
    on $namespace ip link add wg0 type wireguard
done
on gw wg set wg0 private-key /tmp/gw.key listen-port 51820 peer "$(wg pubkey </tmp/cli.key)" allowed-ips 0.0.0.0/0 endpoint 10.0.0.2:51820
on cli wg set wg0 private-key /tmp/cli.key listen-port 51820 peer "$(wg pubkey </tmp/gw.key)" allowed-ips 0.0.0.0/0 endpoint 10.0.0.1:51820
on gw ip addr add 10.0.8.1/24 dev wg0
on cli ip addr add 10.0.8.2/24 dev wg0
on gw ip link set wg0 up
on cli ip link set wg0 up
on cli ip route replace 192.0.2.0/24 via 10.0.8.1
doubted mesh0 unseen 10.0.8.2 10
seen wg0 10.0.8.2
on gw ip link del wg0
on cli ip link del wg0

# The soft interface has the addresses, the link below it is batman-adv's.
for end in "gw mesh0 10.0.9.1" "cli eth0 10.0.9.2"; do
    read -r namespace device address <<<"$end"
    on $namespace ip link add bat0 type batadv
    on $namespace ip addr flush dev $device
    on $namespace ip link set $device master bat0
    on $namespace ip addr add "$address/24" dev bat0
    on $namespace ip link set bat0 up
done
on cli ip route replace default via 10.0.9.1
for _ in $(seq 60); do
    on cli ping -c 1 -W 1 10.0.9.1 >/dev/null 2>&1 && break
    sleep 0.5
done
doubted mesh0 interface-below 10.0.9.2 4
seen bat0 10.0.9.2
