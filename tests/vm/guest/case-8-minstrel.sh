# The kernel's minstrel_ht and ours on the same links, one after another: two radios, a medium that loses frames by rate.
rmmod mac80211_hwsim 2>/dev/null
insmod /modules/mac80211_hwsim.ko radios=2 || { say "FAILED no mac80211_hwsim"; exit 1; }
for device in wlan0 wlan1; do iw dev $device set type ibss && ip link set $device up; done
minstrel cases 20 >/tmp/cases
minstrel rates 1 </tmp/cases >/tmp/ours
medium wlan0 wlan1 </tmp/cases >/tmp/kernel &
medium=$!
sleep 0.5
for device in wlan0 wlan1; do iw dev $device ibss join vm 2412 HT20 fixed-freq 02:ca:ff:ee:ba:be || say "FAILED $device does not join"; done
wait $medium
check "the medium ends in good order" "$? == 0"
# Of each link the kernel's stages, and ours.
paste -d '|' /tmp/kernel /tmp/ours | sed 's/^/rates: /'
check "the kernel has a rate for every link" "$(grep -c '^[0-9]' /tmp/kernel) == 20"
read -r links first second third probable <<<"$(minstrel judge /tmp/ours /tmp/kernel)"
say "of $links links the same: best rate $first, second $second, third $third, most probable $probable"
check "our best rate is the kernel's in at least 90 % of the links" "10 * $first >= 9 * $links && $links == 20"
rmmod mac80211_hwsim
