# Pacing by departure times: the rate measured at the receiver is the law's, spacing and round trips are right.
topology
delay cli 40ms
configuration pace ebpf
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "sch_fq installed" "\"$(on gw tc qdisc show dev mesh0 | grep -c 'fq 4d50:')\" == 1"

download 22 >/tmp/rate &
sleep 6
# From here on steady: packets counted at the receiver's interface against the mean of the law's rate.
packets() { on cli cat /sys/class/net/eth0/statistics/rx_packets; }
now() { cut -d' ' -f1 /proc/uptime; }
before=$(packets) since=$(now)
for _ in $(seq 30); do intervals; sleep 0.3; done >/tmp/intervals
after=$(packets) until=$(now)
measured=$(awk "BEGIN {print ($after - $before) / ($until - $since)}")
law=$(awk '{sum += 1e9 / $1} END {print sum / NR}' /tmp/intervals)
spread=$(sort -n /tmp/intervals | awk '{v[NR] = $1} END {print v[NR] / v[1]}')
say "law $law packets/s (longest interval over shortest $spread), received $measured packets/s"
# Closed form: 2 * (40 ms / 4 + 8 * MSS / 11 Mbit/s) = 22.1 ms with a MSS of 1448 and no variation; 45.2 packets/s.
check "rate within 2 % of the law's" "($measured / $law - 1)^2 < 0.02^2"
check "the law sees 40 ms over 4 hops" "$law > 45.24 / 1.25 && $law < 45.24 * 1.02"
wait
check "goodput is the rate" "($(cat /tmp/rate) / ($measured * 1448 * 8) - 1)^2 < 0.05^2"
kill $pid; wait $pid
check "sch_fq removed" "\"$(on gw tc qdisc show dev mesh0 | grep -c 'fq ')\" == 0"
check "filters removed" "\"$(on gw tc filter show dev mesh0 egress | grep -c meshpace)\" == 0"
