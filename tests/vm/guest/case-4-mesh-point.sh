# 802.11s over three simulated radios, every one of which hears the others; only neighbours in the chain
# gw - mid - cli are peers. The daemon counts hops by the kernel's mesh paths.
rmmod mac80211_hwsim 2>/dev/null
insmod /modules/mac80211_hwsim.ko radios=3 || { say "FAILED no mac80211_hwsim"; exit 1; }
topology
ip netns add mid
on mid ip link set lo up
on gw ip link del mesh0
addresses=()
for radio in 0:gw:1 1:mid:3 2:cli:2; do
    IFS=: read -r number namespace host <<<"$radio"
    phy=$(iw list | awk '$1 == "Wiphy" {print $2}' | sort -V | head -1)
    iw phy "$phy" set netns name "$namespace"
    for device in $(on "$namespace" iw dev | awk '$1 == "Interface" {print $2}'); do on "$namespace" iw dev "$device" del; done
    on "$namespace" iw phy "$phy" interface add mesh0 type mp
    on "$namespace" ip addr add 10.0.0."$host"/24 dev mesh0
    on "$namespace" ip link set mesh0 up
    on "$namespace" iw dev mesh0 mesh join vm freq 2412 mesh_auto_open_plinks=0 || say "FAILED $namespace does not join"
    addresses[number]=$(on "$namespace" cat /sys/class/net/mesh0/address)
done
on cli ip route replace default via 10.0.0.1
# peer NAMESPACE ADDRESS: as soon as it has heard it.
peer() {
    for _ in $(seq 100); do
        on "$1" iw dev mesh0 station set "$2" plink_action open 2>/dev/null && return
        sleep 0.1
    done
    say "FAILED $1 never heard $2"
}
peer gw "${addresses[1]}"
peer mid "${addresses[2]}"
for _ in $(seq 50); do
    on gw ping -c 1 -W 1 10.0.0.2 >/dev/null 2>&1 && break
done
on gw iw dev mesh0 mpath dump
path=$(on gw iw dev mesh0 mpath dump | grep -i "^${addresses[2]}")
check "the path leads over the one in the middle" "$(grep -ci "^${addresses[2]} ${addresses[1]}" <<<"$path") == 1"

configuration observe nfqueue
sed -i 's/^sources = .*/sources = ["802.11s"]/; /^\[hops.static\]/,+1d' /tmp/meshpaced.toml
daemon || { say "FAILED the daemon does not start"; exit 1; }
bulk 12 >/tmp/bytes &
bulk=$!
hops_told 802.11s
check "two hops by 802.11s" "\"$told\" == \"hops:2,hop_source:802.11s\""
wait $bulk
check "data arrive over the mesh" "$(cat /tmp/bytes) > 10000"
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
# Radios outlive their namespaces, with devices of the same names.
rmmod mac80211_hwsim
