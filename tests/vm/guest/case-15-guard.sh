# In the kernel too: what cannot be keeps from pacing, the guard takes back what costs too much, and a rate for hosts comes and goes without a restart.
topology
delay cli 2ms
# 12 hops of 1 Mbit/s are believed: a segment takes longer on the air than its round trip.
configuration observe ebpf '[guard]' 'on = true' 'block = "2s"' 'pairs = 1'
sed -i 's/^rate = "54Mbps"/rate = "1Mbps"/' /tmp/meshpaced.toml
daemon || { say "FAILED the daemon does not start"; exit 1; }
ask() { on gw meshpaced "$@" --socket /tmp/control 2>&1; }
# waits SECONDS COMMAND...: until it succeeds.
waits() {
    local n=$(($1 * 5))
    shift
    for _ in $(seq $n); do "$@" && return; sleep 0.2; done
    return 1
}
status_has() { ask status | grep -q -- "$1"; }
received() { on cli cat /sys/class/net/eth0/statistics/rx_bytes; }
# moves SECONDS: kbit/s that arrive.
moves() {
    local before after from until
    read -r from _ </proc/uptime; before=$(received)
    sleep "$1"
    read -r until _ </proc/uptime; after=$(received)
    awk "BEGIN {printf \"%d\", ($after - $before) * 8 / 1000 / ($until - $from)}"
}
on_fq() { on gw tc qdisc show dev mesh0 | grep -q 'fq 4d50:'; }
no_fq() { ! on_fq; }

bulk 60 >/tmp/bytes &
download=$!
waits 20 status_has '-> its hops or the link rate are wrong'
check "what cannot be is doubted" "$? == 0"
refused=$(ask mode pace)
check "and keeps from pacing" "$? == 2"
say "${refused:0:200}"
check "no sch_fq while nothing is paced" "$(on gw tc qdisc show dev mesh0 | grep -c 'fq 4d50:') == 0"
before=$(moves 2)
said=$(ask mode pace --anyway --wait)
check "the guard takes it back" "$? == 1 && $(grep -c 'went back to the modes of before: in 1 pair ' <<<"$said") == 1"
say "$(tr '\n' ' ' <<<"$said" | tail -c 300)"
check "it observes again" "$(ask status --json | tr -d ' \n' | grep -c '"mode":"observe".*"state":"went-back"') == 1"
waits 5 no_fq
check "sch_fq goes when nothing waits in it" "$? == 0"
after=$(moves 2)
say "before $before kbit/s, after $after"
check "what came before comes again" "$after >= 0.8 * $before"

# A rate for hosts, another one, none, one that is found: no restart.
reloads() {
    configuration "$@" '[guard]' 'on = false'
    kill -HUP $pid
}
reloads pace ebpf '[hosts]' 'rate = "2Mbps"' 'flows = "free"'
waits 5 status_has 'share 2 Mbit/s'
check "a rate comes into force" "$? == 0"
sleep 1
within "and holds" 8 "$(moves 3)" 2000
reloads pace ebpf '[hosts]' 'rate = "4Mbps"' 'flows = "free"'
sleep 2
within "another one does" 8 "$(moves 3)" 4000
reloads pace ebpf '[hosts]' 'rate = "auto"' 'flows = "free"'
waits 5 status_has 'found by delay'
check "one is found" "$? == 0"
reloads observe ebpf '[hosts]' 'rate = "off"'
waits 5 no_fq
check "and none" "$? == 0"
sleep 1
check "no program shapes any more" "$(bpftool prog show | grep -c meshpace_shape) == 0 && $(bpftool prog show | grep -c meshpace_down) == 1"
last=$(moves 2)
check "all passes" "$last >= 0.8 * $before"
kill $download
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
