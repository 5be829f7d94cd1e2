# A gateway that shapes by host beside tbf, htb with fq_codel, cake, and cake under cake-autorate's rule (bench/hosts_beside.py).
# At most 6000 s
chosen=$(grep -oE 'beside=[^ ]*' /proc/cmdline)
chosen=${chosen#beside=}
program=/project/bench/hosts_beside.py
test -n "$chosen" || program=/cases/beside.py
# shellcheck disable=SC2086  # words
PYTHONPATH=/project/python:/project/bench:/project/tests/live python3 -S -u $program ${chosen//+/ } 2>&1 | sed 's/^/test-vm: /'
check "the bench ends in good order" "${PIPESTATUS[0]} == 0"
