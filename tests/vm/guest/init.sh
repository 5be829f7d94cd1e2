#!/bin/bash
# First process of the virtual machine: modules, then every case, then the end.
cd /tmp || exit 1
while read -r module; do insmod "/modules/$module" 2>/dev/null; done </modules/order
ip link set lo up
mkdir -p /run/netns
echo "test-vm: Linux $(uname -r), $(grep -c . /proc/modules) modules, $(cut -d' ' -f1 /proc/uptime) s after power-on"
. /cases/common.sh
chosen=$(grep -oE 'cases=[0-9,]+' /proc/cmdline)
for case in /cases/case-*.sh; do
    name=$(basename "$case" .sh)
    number=${name#case-}
    [[ -z "$chosen" || ",${chosen#cases=}," == *",${number%%-*},"* ]] || continue
    # A case that takes longer says so: "# At most N s".
    limit=$(sed -n 's/^# At most \([0-9]*\) s.*/\1/p' "$case")
    timeout "${limit:-100}" bash -c ". /cases/common.sh; . $case" || say "FAILED $name: ended with $?"
    clean_up
done
echo "test-vm: end, $(cut -d' ' -f1 /proc/uptime) s after power-on"
poweroff -f
