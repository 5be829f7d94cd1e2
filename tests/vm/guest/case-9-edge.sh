# Thin acknowledgements by a filter of clsact (no TCX before 6.6): uploads by this kernel's senders, without and with them.
topology
# What goes up takes 3 Mbit/s and 20 ms; acknowledgements come back as they are.
on cli tc qdisc replace dev eth0 root netem rate 3mbit delay 20ms limit 100
on srv tc qdisc del dev eth0 root
SIZE=1500000

retransmitted() { on cli awk '$1 == "Tcp:" && $13 ~ /^[0-9]+$/ {print $13}' /proc/net/snmp; }
# upload CONTROL: cli sends $SIZE bytes; seconds, packets into the mesh, segments that were sent again.
upload() {
    local control=$1 sink from until before after again
    on cli sysctl -q -w net.ipv4.tcp_congestion_control="$control"
    sleep 40 | on srv timeout 40 nc -l -p 5001 | wc -c >/tmp/bytes &
    sink=$!
    sleep 0.3
    before=$(on gw cat /sys/class/net/mesh0/statistics/tx_packets)
    again=$(retransmitted)
    read -r from _ </proc/uptime
    on cli bash -c "exec 3>/dev/tcp/192.0.2.2/5001; head -c $SIZE /dev/zero >&3"
    while ! test -s /tmp/bytes; do sleep 0.01; done
    read -r until _ </proc/uptime
    after=$(on gw cat /sys/class/net/mesh0/statistics/tx_packets)
    test "$(cat /tmp/bytes)" = $SIZE || say "FAILED $control: $(cat /tmp/bytes) of $SIZE bytes arrived"
    awk "BEGIN {print $until - $from, $after - $before, $(retransmitted) - $again}"
}

edge() {
    ip netns exec gw meshpaced edge --interface mesh0 --socket /tmp/edge.sock >/tmp/edge.log 2>&1 &
    pid=$!
    for _ in $(seq 100); do grep -q 'edge by' /tmp/edge.log && return; sleep 0.1; done
    cat /tmp/edge.log
    return 1
}

say "congestion controls: $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)"
for control in reno cubic bbr; do
    grep -qw $control /proc/sys/net/ipv4/tcp_available_congestion_control || { say "FAILED no $control"; continue; }
    read -r plain all lost < <(upload $control)
    edge || { say "FAILED the edge does not start"; exit 1; }
    read -r thin some again < <(upload $control)
    say "$(grep "edge by" /tmp/edge.log)"
    say "$control: $plain s, $all ACKs, $lost sent again; thin $thin s, $some ACKs, $again sent again"
    check "$control: acknowledgements are thinned" "$some < $all / 2"
    # What it sends again fills the queue anew; the acknowledgements' wait is in its round trips.
    check "$control: no slower" "$thin < 1.05 * $plain"
    check "by eBPF, as a filter" "$(on gw tc filter show dev mesh0 egress | grep -c meshpace_edge) >= 1"
    kill $pid
    wait $pid
    check "it ends in good order" "$? == 0"
    check "clsact removed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 0"
done

# A killed one's program stays, lets everything pass after 5 s, and is removed by undo.
edge || { say "FAILED the edge does not start again"; exit 1; }
kill -9 $pid
wait $pid 2>/dev/null
check "the program outlives its daemon" "$(on gw tc filter show dev mesh0 egress | grep -c meshpace_edge) >= 1"
sleep 5.5
read -r _ passing _ < <(upload cubic)
check "without a sign of life all pass" "$passing > 2 * $some"
on gw meshpaced edge --socket /tmp/edge.sock --undo >/tmp/undone
check "undo removes it" "$(on gw tc filter show dev mesh0 egress | grep -c meshpace_edge) == 0 && $(grep -c 'eBPF program of the edge on mesh0' /tmp/undone) == 1"
