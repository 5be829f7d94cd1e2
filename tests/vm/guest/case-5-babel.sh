# Hops by Babel: babeld on a chain of five, gw - m1 - m2 - m3 - cli, over wires, where it counts hops (every link costs 96).
# The daemon asks babeld's local socket.
topology
on gw ip link del mesh0
chain=(gw m1 m2 m3 cli)
for namespace in m1 m2 m3; do
    ip netns add $namespace
    on $namespace ip link set lo up
done
for number in 0 1 2 3; do
    down=down0 here=${chain[number]} there=${chain[number + 1]}
    test "$here" = gw && down=mesh0
    ip link add $down netns "$here" type veth peer name up0 netns "$there"
    on "$here" ip link set $down up
    on "$there" ip link set up0 up
done
host=0
for namespace in "${chain[@]}"; do
    # One address each, of no network: babeld tells it to the others.
    host=$((host + 1))
    on $namespace ip addr add 10.0.1.$host/32 dev lo
    on $namespace sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
    devices=$(on $namespace ip -o link show | grep -oE '(up0|down0|mesh0)@' | tr -d '@')
    # shellcheck disable=SC2086  # a word a device
    on $namespace babeld -g 33123 -h 1 -H 1 -c /dev/null -C 'skip-kernel-setup true' -C 'redistribute ip 192.0.2.0/24 allow' \
        -I /tmp/babeld-$namespace.pid -S /tmp/babeld-$namespace.state $devices >/tmp/babeld-$namespace.log 2>&1 &
done
for _ in $(seq 120); do
    on cli ping -c 1 -W 1 -I 10.0.1.5 192.0.2.2 >/dev/null 2>&1 && break
    sleep 0.5
done
on gw ip route
check "the gateway has a route to the end of the chain" "$(on gw ip route get 10.0.1.5 | grep -c 'dev mesh0') == 1"
on gw bash -c 'exec 3<>/dev/tcp/::1/33123; printf "dump\nquit\n" >&3; cat <&3' | tee /tmp/dump

configuration observe nfqueue
sed -i 's/^sources = .*/sources = ["babel"]/; /^\[hops.static\]/,+1d' /tmp/meshpaced.toml
daemon || { say "FAILED the daemon does not start"; exit 1; }
bulk 12 10.0.1.5 >/tmp/bytes &
bulk=$!
hops_told babel
check "four hops by Babel" "\"$told\" == \"hops:4,hop_source:babel\""
wait $bulk
check "data arrive over the mesh" "$(cat /tmp/bytes) > 10000"
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
