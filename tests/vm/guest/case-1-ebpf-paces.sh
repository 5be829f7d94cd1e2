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

bulk 45 >/tmp/bytes &
bulk=$!
sleep 5
# Time and packets received, read by one process: starting another takes this machine as long as several packets.
look() { on cli bash -c 'read -r up _ </proc/uptime; read -r count </sys/class/net/eth0/statistics/rx_packets; echo $up $count'; }
waiting() { on gw tc -s qdisc show dev mesh0 | awk '$1 == "backlog" {print $3 + 0; exit}'; }
# The law is held still: while the daemon sleeps the interval stays what it is. The programs go on for 4 s at least without
# a sign of life. A round in which nothing waited (the sender was slower than the law) says nothing about the pace.
: >/tmp/rounds
for round in $(seq 9); do
    kill -STOP $pid
    sleep 0.8
    read -r from before < <(look)
    held=$(waiting)
    sleep 1.5
    read -r until after < <(look)
    still=$(waiting)
    interval=$(interval)
    kill -CONT $pid
    verdict=$(awk "BEGIN {
        due = ($until - $from) * 1e9 / $interval
        void = $held == 0 || $still == 0
        if (!void) print ($after - $before) / due >>\"/tmp/rounds\"
        printf \"%.1f by the law of %.2f ms%s\", due, $interval / 1e6, void ? \" (void)\" : \"\"
    }")
    say "round $round: $((after - before)) packets in $from..$until s, $verdict"
    # Closed form without variation: 2 * (16 ms / 12 + 8 * 1448 / 54 Mbit/s) = 3.10 ms; the network never delays less.
    test "$interval" -ge 3090000 || say "FAILED an interval of $interval ns is less than 16 ms over 12 hops allow"
    test "$(wc -l </tmp/rounds)" -ge 5 && break
    sleep 1
done
check "enough rounds" "$(wc -l </tmp/rounds) >= 3"
within "the rate is the law's within 2 % (median)" 2 "$(sort -n /tmp/rounds | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')" 1
wait $bulk
say "$(cat /tmp/bytes) bytes arrived"

# A daemon that hangs does no harm: 5 s after its last sign of life everything passes.
bulk 12 >/tmp/bytes &
bulk=$!
sleep 2
interval=$(interval)
kill -STOP $pid
sleep 5.5
read -r from before < <(look)
sleep 1
read -r until after < <(look)
kill -CONT $pid
# One packet an interval is the most that the programs let through while they act.
check "unpaced without a sign of life" "($after - $before) / ($until - $from) > 1.5e9 / $interval"
wait $bulk

kill $pid
wait $pid
check "it ends in good order" "$? == 0"
check "sch_fq removed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq ') == 0"
check "clsact removed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 0"
