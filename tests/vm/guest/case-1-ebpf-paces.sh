# Pacing by departure times: what arrives at the receiver is what the law allows.
topology
# Short enough for an ACK every other segment to leave before the receiver's 40 ms timer.
delay cli 16ms
configuration pace ebpf
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "sch_fq installed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq 4d50:') == 1"
check "clsact installed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 1"

download 25 >/tmp/rate &
download=$!
sleep 8
# Packets counted at the receiver's interface, against the time between looks at the law over the interval then in force.
look() { echo "$(cut -d' ' -f1 /proc/uptime) $(on cli cat /sys/class/net/eth0/statistics/rx_packets) $(intervals | head -1)"; }
for _ in $(seq 60); do look; sleep 0.1; done >/tmp/looks
awk '
    NR > 1 && NF == 3 { due += ($1 - at) / interval * 1e9 }
    NR == 1 { first = $1; count = $2 }
    { at = $1; last = $2; interval = $3; if (!least || $3 < least) least = $3; if ($3 > most) most = $3 }
    END { print last - count, due, least / 1e6, most / 1e6, (at - first) }' /tmp/looks >/tmp/sums
read -r received due least most seconds </tmp/sums
say "$received packets in $seconds s, $due by the law, whose interval was $least to $most ms"
within "the rate is the law's within 2 %" 2 "$received" "$due"
# Closed form without variation: 2 * (16 ms / 4 + 8 * 1448 / 54 Mbit/s) = 8.43 ms; the network never delays less.
check "the interval is that of 16 ms over 4 hops, or longer" "$least >= 8.42 && $least < 16"
wait $download
say "goodput $(cat /tmp/rate) bit/s"

kill $pid
wait $pid
check "it ends in good order" "$? == 0"
check "sch_fq removed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq ') == 0"
check "clsact removed" "$(on gw tc qdisc show dev mesh0 | grep -c clsact) == 0"
