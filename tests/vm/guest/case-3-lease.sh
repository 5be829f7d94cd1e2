# The lease with nft: packets pass a daemon that is stopped, and come to it again when it goes on.
topology
delay cli 16ms
configuration observe nfqueue
daemon || { say "FAILED the daemon does not start"; exit 1; }
check "the rules are nft's, in the best form" "$(grep -cE "rules by nft, behind the firewall's filter(, by samples where there is much)?$" /tmp/daemon.log) == 1"
# Packets that left the gateway for the mesh.
sent() { on gw cat /proc/net/dev | awk '$1 == "mesh0:" {print $11}'; }
# Packets that the kernel gave to the queue.
queued() { on gw awk '{print $8}' /proc/net/netfilter/nfnetlink_queue; }
bulk 18 >/tmp/bytes &
transfer=$!
sleep 3
check "packets come to the queue" "$(queued) > 20"
kill -STOP $pid
sleep 6
before=$(sent)
sleep 2
check "packets pass a daemon that is stopped" "$(sent) - $before > 20"
kill -CONT $pid
sleep 2
before=$(queued)
sleep 2
check "and come to it again" "$(queued) - $before > 20"
wait $transfer
kill $pid
wait $pid
check "it ends in good order" "$? == 0"
