# Calm as this kernel's congestion control, beside cubic: its goodput, its queue, and that it goes away under a connection.
topology
on cli tc qdisc replace dev eth0 root netem rate 3mbit delay 20ms limit 200
on srv tc qdisc del dev eth0 root
available() { grep -cw calm /proc/sys/net/ipv4/tcp_available_congestion_control; }

meshpaced doctor | grep congestion >/tmp/said
check "the doctor says that it can be" "$(grep -c 'calm can be loaded, and is not' /tmp/said) == 1"
meshpaced congestion load >/tmp/said 2>&1 || { say "FAILED it does not load: $(cat /tmp/said)"; exit 1; }
check "calm is loaded" "$(available) == 1"

# send CONTROL SECONDS: bytes that arrive, and the packets that waited before the link on average, 2 s after the beginning and later.
send() {
    local control=$1 seconds=$2 sink source
    on cli sysctl -q -w net.ipv4.tcp_congestion_control="$control"
    sleep "$seconds" | on srv timeout "$seconds" nc -l -p 5001 | wc -c >/tmp/bytes &
    sink=$!
    sleep 0.3
    on cli timeout "$seconds" bash -c 'exec 3>/dev/tcp/192.0.2.2/5001; cat /dev/zero >&3' 2>/dev/null &
    source=$!
    sleep 2
    if test "$control" = calm; then on cli meshpaced congestion status --json >/tmp/status; fi
    for _ in $(seq $((4 * (seconds - 3)))); do
        on cli tc -s qdisc show dev eth0 | awk '$1 == "backlog" {print $3 + 0; exit}'
        sleep 0.25
    done >/tmp/waiting
    wait $sink
    kill $source 2>/dev/null
    wait $source 2>/dev/null
    echo "$(cat /tmp/bytes) $(awk '{all += $1} END {print all / NR}' /tmp/waiting)"
}

read -r others queue < <(send cubic 12)
read -r bytes waits < <(send calm 12)
say "cubic $others bytes, $queue packets wait; calm $bytes bytes, $waits packets wait"
check "a connection has it" "$(tr -d ' \n' </tmp/status | grep -c '"flows":\[{"local":"10.0.0.2') == 1"
check "goodput as cubic's" "$bytes > 0.9 * $others"
# What the link itself holds in 20 ms, 5 packets, is among them.
check "with a shorter queue" "$waits < 0.5 * $queue"

# Thin acknowledgements at the gateway, for calm as for others.
ip netns exec gw meshpaced edge --interface mesh0 --socket /tmp/edge.sock >/tmp/edge.log 2>&1 &
pid=$!
for _ in $(seq 100); do grep -q 'edge by' /tmp/edge.log && break; sleep 0.1; done
read -r thin waits < <(send calm 12)
share=$(on gw meshpaced edge --socket /tmp/edge.sock --status --json | tr -d ' \n' | sed 's/.*"thinned_share":\([0-9.]*\).*/\1/')
say "calm with thin acknowledgements $thin bytes, $waits packets wait, thinned $share"
check "thinned" "$share > 0.5"
check "as fast with thin acknowledgements" "$thin > 0.9 * $bytes"
kill $pid
wait $pid

# Taken away under a connection: that goes on by the default.
on cli sysctl -q -w net.ipv4.tcp_congestion_control=calm
sleep 8 | on srv timeout 8 nc -l -p 5001 | wc -c >/tmp/bytes &
sink=$!
sleep 0.3
on cli timeout 8 bash -c 'exec 3>/dev/tcp/192.0.2.2/5001; cat /dev/zero >&3' 2>/dev/null &
sleep 3
before=$(on srv cat /sys/class/net/eth0/statistics/rx_bytes)
meshpaced congestion undo >/tmp/said 2>&1
check "calm is removed" "$(available) == 0 && $(grep -c 'removed calm' /tmp/said) == 1"
sleep 3
after=$(on srv cat /sys/class/net/eth0/statistics/rx_bytes)
check "its connection goes on" "$after - $before > 300000"
wait $sink
