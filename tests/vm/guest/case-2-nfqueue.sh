# The NFQUEUE data path on a kernel with nft's queue expression: the rule is nft's, flows are paced, nothing stays.
topology
delay cli 16ms
configuration pace nfqueue
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "nft carries the rule" "$(on gw nft list ruleset | grep -c 'queue') >= 1"
bulk 8 >/tmp/bytes
bytes=$(cat /tmp/bytes)
# 16 ms over 12 hops: never more than one packet in 3.10 ms (about 3.7 Mbit/s), a second for the start.
check "data arrive, and at a pace" "$bytes > 100000 && $bytes < 8 * 1448 / 3.1e-3 + 1e6"
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
check "the rule is gone" "$(on gw nft list ruleset | grep -c 'queue') == 0"
