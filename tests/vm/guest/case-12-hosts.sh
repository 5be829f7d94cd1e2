# Hosts shaped in the kernel: they share the rate, what sends little waits for nobody, and a packet takes about as many instructions as at tbf.
topology
delay cli 5ms
on cli ip addr add 10.0.0.3/24 dev eth0
configuration pace ebpf '[hosts]' 'rate = "2Mbps"' 'flows = "free"'
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "sch_fq installed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq 4d50:') == 1"

# One download of a host beside four of another one, and echoes that share the former's.
bulk 12 10.0.0.2 5001 >/tmp/one &
downloads=($!)
for port in 5011 5012 5013 5014; do
    bulk 12 10.0.0.3 $port >/tmp/four-$port &
    downloads+=($!)
done
sleep 3
on srv ping -c 8 10.0.0.2 >/tmp/echoes
wait "${downloads[@]}"
one=$(cat /tmp/one)
four=$(cat /tmp/four-* | awk '{sum += $1} END {print sum}')
# From half a second on until the end; 52 of 1,500 bytes are headers.
rate=$(awk "BEGIN {print ($one + $four) * 8 / 11.5 * 1500 / 1448}")
say "one host got $one bytes with one download, the other $four with four: $rate bit/s on the way"
within "both together have the rate" 5 "$rate" 2e6
within "each has half of it" 10 "$one" "($one + $four) / 2"
delays=$(sed -n 's/.*time=\([0-9.]*\).*/\1/p' /tmp/echoes | sort -n)
say "echoes: $(wc -l <<<"$delays") of 8, median $(awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}' <<<"$delays") ms, most $(tail -1 <<<"$delays")"
check "an echo waits for nobody" "$(awk '{v[NR] = $1} END {print v[int(NR * 0.9)]}' <<<"$delays") < 5 + 7"
say "$(on gw meshpaced status --socket /tmp/control | grep -A3 '^hosts' | tr -s ' \n' ' ')"

# How many instructions a packet takes: the guest's clock makes 250 million a second, and tells how long it was idle.
# work NAME: what one download of 5 s takes, for each packet that arrives.
work() {
    local before after from until
    bulk 8 10.0.0.2 5002 >/tmp/bytes &
    local download=$!
    sleep 2
    read -r from before < <(busy)
    sleep 5
    read -r until after < <(busy)
    wait $download
    awk "BEGIN {printf \"%d %d\n\", ($until - $from) * 1e6 * 2.5 / ($after - $before), $after - $before}"
}
# Hundredths of a second that the processor was at work, and packets that arrived.
busy() {
    local up count idle
    read -r up _ </proc/uptime
    read -r _ _ _ _ idle _ </proc/stat
    read -r count < <(on cli cat /sys/class/net/eth0/statistics/rx_packets)
    awk "BEGIN {print $up * 100 - $idle, $count}"
}
configuration pace ebpf '[hosts]' 'rate = "8Mbps"' 'flows = "free"'
kill -HUP $pid
sleep 1
read -r shaped packets < <(work)
say "by the shaper $shaped instructions a packet of $packets"
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
check "sch_fq removed" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq ') == 0"
check "no program is left" "$(on gw tc filter show dev mesh0 egress 2>/dev/null | grep -c meshpace) == 0"
on gw tc qdisc add dev mesh0 root tbf rate 8mbit burst 1600 latency 250ms
read -r filled packets < <(work)
say "by tbf $filled of $packets"
on gw tc qdisc del dev mesh0 root
on srv tc qdisc replace dev eth0 root netem rate 8mbit limit 100
read -r plain packets < <(work)
say "without either $plain of $packets"
check "at most one and a half of tbf's" "$shaped <= 1.5 * $filled"
