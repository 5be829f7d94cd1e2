# Pacing by departure times: what arrives at the receiver is what the law allows.
topology
# Short enough for an ACK every other segment to leave before the receiver's 40 ms timer.
delay cli 16ms
# A dozen segments of window: few of them wait with departure times of an earlier interval.
on cli sysctl -q -w net.ipv4.tcp_rmem="4096 32768 32768"
configuration pace ebpf
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "sch_fq installed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq 4d50:') == 1"
check "clsact installed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 1"

bulk 30 >/tmp/bytes &
bulk=$!
sleep 5
# Time and packets received, read by one process: starting another takes this machine as long as several packets.
look() { on cli bash -c 'read -r up _ </proc/uptime; read -r count </sys/class/net/eth0/statistics/rx_packets; echo $up $count'; }
for round in 1 2 3; do
    # The law follows the noise of an emulated processor, so it is held still: while the daemon sleeps the interval stays
    # what it is. The programs go on for 4 s at least without a sign of life.
    kill -STOP $pid
    sleep 0.8
    read -r from before < <(look)
    sleep 2.5
    read -r until after < <(look)
    interval=$(interval)
    kill -CONT $pid
    say "round $round: $((after - before)) packets in $from..$until s, one every $interval ns by the law"
    within "round $round: the rate is the law's within 2 %" 2 "($after - $before)" "(($until - $from) * 1e9 / $interval)"
    # Closed form without variation: 2 * (16 ms / 12 + 8 * 1448 / 54 Mbit/s) = 3.10 ms; the network never delays less.
    check "round $round: the interval is that of 16 ms over 12 hops, or longer" "$interval >= 3.09e6 && $interval < 100e6"
    sleep 3
done
wait $bulk
say "$(cat /tmp/bytes) bytes arrived"

# A daemon that hangs does no harm: 5 s after its last sign of life everything passes, faster than the law ever allows.
bulk 12 >/tmp/bytes &
bulk=$!
sleep 2
kill -STOP $pid
sleep 5.5
read -r from before < <(look)
sleep 1
read -r until after < <(look)
kill -CONT $pid
check "unpaced without a sign of life" "($after - $before) / ($until - $from) > 330"
wait $bulk

kill $pid
wait $pid
check "it ends in good order" "$? == 0"
check "sch_fq removed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq ') == 0"
check "clsact removed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 0"
