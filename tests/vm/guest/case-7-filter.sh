# A flood that the firewall refuses, both by nft: the daemon's rules stand behind the filter, so that its packets are not even queued.
topology
on gw nft 'table inet firewall { chain forward { type filter hook forward priority filter; policy accept;
    ct state established,related accept
    iifname "mesh0" accept
    tcp dport 5001 accept
    meta l4proto tcp reject with tcp reset
    drop
}; }' || say "FAILED no rules of a firewall"
configuration pace nfqueue
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "the rules are nft's, in the best form" "$(grep -cE "rules by nft, behind the firewall's filter(, by samples where there is much)?$" /tmp/daemon.log) == 1"
queued() { on gw awk '{print $8}' /proc/net/netfilter/nfnetlink_queue; }
known() { on gw meshpaced status --json --socket /tmp/control | tr -d ' \n' | grep -o '"known":[0-9]*' | cut -d: -f2; }
bulk 8 >/tmp/bytes &
transfer=$!
sleep 4
check "what the firewall lets through is queued, and known" "$(queued) > 50 && $(known) >= 1"
wait $transfer
sleep 1
before=$(queued)
# Refused at once, each by a reset.
on srv bash -c 'for port in {10001..13000}; do : </dev/tcp/10.0.0.2/$port; done' 2>/dev/null
# AttemptFails (RFC 4022)
refused=$(on srv awk '$1 == "Tcp:" && $2 ~ /^[0-9]/ {print $8}' /proc/net/snmp)
check "the firewall refused a flood" "$refused >= 3000"
check "of which nothing was queued" "$(queued) - $before < 50"
check "nor is known" "$(known) < 1000"
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
