#!/bin/bash
# What this machine's kernel may lack (sch_fq, netem, 802.11), tried in Debian's kernel under QEMU without KVM.
# Usage: run.sh MESHPACED MINSTREL [WORK-DIRECTORY]   (from `make test-vm`; nothing outside WORK-DIRECTORY changes)
# The relay is the one beside MESHPACED. VM_CASES=1,3 runs these cases alone. VM_BESIDE="use --runs 3" has case 13 print that table
# of bench/hosts_beside.py, and check nothing; VM_SECONDS is the processor time that all may take.
#
# The guest's clock counts its instructions, 4 ns each, and leaps over idle time (-icount): whatever else this machine does,
# the guest sees a processor of the same speed, and its times are exact. So no limit here is one of wall-clock time; each case
# has one in the guest's, and the whole one of processor time.
set -euo pipefail

binary=$(realpath "$1")
minstrel=$(realpath "$2")
relay=$(dirname "$binary")/relay
work=$(realpath -m "${3:-target/vm}")
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
processor_seconds=${VM_SECONDS:-1500}
beside=${VM_BESIDE:-}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "test-vm: $tool is missing (packages: see the Makefile)" >&2; exit 1; }
    done
}
test -x "$relay" || { echo "test-vm: $relay is missing (make setup builds it)" >&2; exit 1; }
need cc python3 qemu-system-x86_64 busybox cpio gzip kmod ip tc nft bpftool iw tcpdump apt-get dpkg-deb ldd

mkdir -p "$work"
cd "$work"

# The kernel: the package that linux-image-amd64 stands for, unpacked, not installed.
if ! test -e kernel/done; then
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
    test -n "$package" || { echo "test-vm: apt knows no linux-image-amd64 (apt-get update?)" >&2; exit 1; }
    rm -rf kernel ./*.deb
    apt-get download "$package" 2>/dev/null
    dpkg-deb -x "$package"_*.deb kernel
    rm -f "$package"_*.deb
    touch kernel/done
fi
# babeld, unpacked too: installed it would be a service of this machine. And WireGuard's tool.
if ! test -x tools/usr/bin/wg; then
    rm -rf tools ./*.deb
    packages=(babeld libb2-1 libgomp1 wireguard-tools)
    apt-get download "${packages[@]}" 2>/dev/null
    for package in "${packages[@]}"; do dpkg-deb -x "$package"_*.deb tools; done
    rm -f ./*.deb
fi
version=$(basename kernel/boot/vmlinuz-* | sed 's/vmlinuz-//')
test -e "kernel/lib/modules/$version/modules.dep" || depmod -b kernel "$version"

# The file system: busybox, bash, the real ip and tc (busybox's know neither fq nor netem), what the cases run, modules.
rm -rf root
mkdir -p root/{bin,dev,proc,sys,tmp,run,etc,cases,modules,usr/lib,var/run}
put() {
    cp "$(command -v "$1")" "root/bin/${2:-}"
    ldd "$(command -v "$1")" 2>/dev/null | awk '/=> \// {print $3} /^\t\/lib/ {print $1}' | while read -r library; do
        mkdir -p "root$(dirname "$library")"
        cp -Lu "$library" "root$library"
    done
}
cp "$(command -v busybox)" root/bin/busybox
for tool in bash ip tc nft bpftool iw tcpdump; do put "$tool"; done
put "$binary" meshpaced
put "$minstrel" minstrel
cc -O2 -Wall -Wextra -Werror -o medium "$here/medium.c"
put ./medium
cp tools/usr/sbin/babeld tools/usr/bin/wg root/bin/
libraries=(tools/usr/lib/*-linux-*)
mkdir -p "root/lib/$(basename "${libraries[0]}")"
cp -a "${libraries[0]}"/*.so* "root/lib/$(basename "${libraries[0]}")/"
if command -v iptables >/dev/null; then put iptables; fi
cp "$here"/guest/* root/cases/
# Python at its place here, without what no bench uses, and the benches of hosts at theirs in the project.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
library=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
tar -c -P --exclude='*/site-packages' --exclude='*/dist-packages' --exclude='*/test' --exclude='*/tests' --exclude='*/config-*' \
    --exclude='*/idlelib' --exclude='*/tkinter' --exclude='*/lib2to3' --exclude='*/ensurepip' --exclude='*/pydoc_data' --exclude='*/turtledemo' \
    --exclude='*.opt-?.pyc' "$library" | tar -x -C root --transform='s|^/||' -P
mkdir -p "root$(dirname "$python")" root/project/target/release
cp "$python" "root$python"
ln -s "$python" root/bin/python3
for file in "$python" "$library"/lib-dynload/_{ctypes,socket,json,struct,random,datetime,posixsubprocess}*.so; do
    ldd "$file" 2>/dev/null | awk '/=> \// {print $3} /^\t\/lib/ {print $1}'
done | sort -u | while read -r needed; do
    mkdir -p "root$(dirname "$needed")"
    cp -Lu "$needed" "root$needed"
done
(cd "$project" && find bench tests/live python -name '*.py' -print0 | tar -c --null -T -) | tar -x -C root/project
cp "$relay" root/project/target/release/
ln -s /bin/meshpaced root/project/target/release/
# tcpdump looks up whom it runs as.
echo "root:x:0:0::/tmp:/bin/bash" >root/etc/passwd
modules=(veth sch_fq sch_tbf sch_netem sch_ingress cls_bpf nf_tables nft_queue nft_ct nft_limit nft_objref nft_reject_inet nfnetlink_queue mac80211_hwsim tcp_bbr
    8021q wireguard batman-adv tun sch_htb sch_fq_codel sch_cake)
for module in "${modules[@]}"; do
    modprobe -d "$work/kernel" -S "$version" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' >order
: >root/modules/order
while read -r file; do
    cp "$file" root/modules/
    basename "$file" >>root/modules/order
done <order
cat >root/init <<'INIT'
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox ln -s /proc/self/fd /dev/fd
/bin/busybox mkdir -p /bin/box
/bin/busybox --install -s /bin/box
# busybox's shell prefers its own ip, whatever PATH says: bash it is.
export PATH=/bin:/bin/box HOME=/tmp
exec /bin/bash /cases/init.sh
INIT
chmod +x root/init
(cd root && find . -print0 | cpio --null --create --format=newc --quiet | gzip -1) >initramfs.gz

# -accel kvm may open and then hang while booting; tcg works everywhere.
rm -f air.pcap.gz
(
    ulimit -t "$processor_seconds"
    exec qemu-system-x86_64 -accel tcg,thread=single -icount shift=2,sleep=off -rtc clock=vm -M q35 -cpu max -m 768 -display none \
        -no-reboot -serial stdio -serial file:air.pcap.gz -kernel "kernel/boot/vmlinuz-$version" -initrd initramfs.gz \
        -append "console=ttyS0 quiet panic=-1 mitigations=off cases=${VM_CASES:-} beside=${beside// /+}" </dev/null 2>&1
) | stdbuf -oL tr -d '\r' | tee log | grep --line-buffered '^test-vm:' || true

passed=$(grep -c '^test-vm: ok' log || true)
if grep -q '^test-vm: FAILED' log || ! grep -q '^test-vm: end' log; then
    echo "test-vm: failed; the whole log is $work/log" >&2
    exit 1
fi
seconds=$(sed -n 's/^test-vm: end, \(.*\) s after power-on$/\1/p' log)
echo "test-vm: $passed checks passed on Linux $version, in $seconds s of its own time"
