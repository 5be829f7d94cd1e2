# A monitor's view of a mesh: hwsim0 hears every frame of two radios that form an 802.11s mesh, acknowledgements too.
# What it captured goes out by the second serial line; tests/fixtures/monitor keeps one such capture.
rmmod mac80211_hwsim 2>/dev/null
insmod /modules/mac80211_hwsim.ko radios=2 || { say "FAILED no mac80211_hwsim"; exit 1; }
for end in a:1 b:2; do
    IFS=: read -r namespace host <<<"$end"
    ip netns add "$namespace"
    iw phy "$(iw list | awk '$1 == "Wiphy" {print $2}' | sort -V | head -1)" set netns name "$namespace"
    for device in $(on "$namespace" iw dev | awk '$1 == "Interface" {print $2}'); do on "$namespace" iw dev "$device" del; done
    phy=$(on "$namespace" iw list | awk '$1 == "Wiphy" {print $2; exit}')
    on "$namespace" iw phy "$phy" interface add mesh0 type mp
    on "$namespace" ip addr add 10.0.0."$host"/24 dev mesh0
    on "$namespace" ip link set mesh0 up
done
ip link set hwsim0 up
tcpdump -Z root -i hwsim0 -s 160 -U -w /tmp/air.pcap 2>/tmp/tcpdump.log &
capture=$!
for namespace in a b; do on $namespace iw dev mesh0 mesh join vm freq 2412 || say "FAILED $namespace does not join"; done
for _ in $(seq 60); do
    on a ping -c 1 -W 1 10.0.0.2 >/dev/null 2>&1 && break
done
# nc ends when its input does.
sleep 6 | on b timeout 10 nc -l -p 5001 >/tmp/received &
sink=$!
sleep 1
{ head -c 60000 /bin/bash; sleep 3; } | on a timeout 10 nc 10.0.0.2 5001 >/dev/null
wait $sink
check "a transfer crosses the mesh" "$(wc -c </tmp/received) == 60000"
sleep 1
kill $capture || cat /tmp/tcpdump.log
wait $capture
# frames FILTER: how many of the captured frames pass it.
frames() { tcpdump -Z root -nr /tmp/air.pcap "$1" 2>/dev/null | grep -cE '^[0-9]{2}:'; }
check "data frames" "$(frames 'type data') >= 42"
check "every unicast data frame is acknowledged" "$(frames 'type ctl subtype ack') >= 42"
check "beacons of a mesh" "$(frames 'type mgt subtype beacon') > 5"
stty -F /dev/ttyS1 raw
gzip -c /tmp/air.pcap >/dev/ttyS1
# The line is slow, and its driver's queue ends with the machine.
sleep 2
rmmod mac80211_hwsim
