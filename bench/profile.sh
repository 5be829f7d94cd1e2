#!/bin/sh
# Where the engine spends its time on one scenario: perf's counters and hottest functions, or callgrind's.
#
#   bench/profile.sh SCENARIO.toml [perf|callgrind] [options of `meshpace run`]
#
# Files go to bench/out/. perf needs kernel.perf_event_paranoid <= 2; callgrind is some fifty times slower than the plain
# run, so shorten the scenario: bench/profile.sh FILE callgrind --set measure.duration=5s --set measure.warmup=1s
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
meshpace="$root/.venv/bin/meshpace"
out="$root/bench/out"
scenario=$1
shift
tool=
case "${1:-}" in
    perf | callgrind)
        tool=$1
        shift
        ;;
esac
if [ ! -x "$meshpace" ]; then
    echo "profile.sh: .venv/bin/meshpace is missing: run \`make setup\` first" >&2
    exit 1
fi
mkdir -p "$out"

has_perf() { command -v perf >/dev/null 2>&1 && perf stat -e task-clock true >/dev/null 2>&1; }
has_callgrind() { command -v valgrind >/dev/null 2>&1; }
if [ -z "$tool" ]; then
    if has_perf; then
        tool=perf
    elif has_callgrind; then
        tool=callgrind
    else
        echo "profile.sh: neither perf (usable by this user) nor valgrind is here: apt-get install linux-perf valgrind" >&2
        exit 1
    fi
fi

case "$tool" in
    perf)
        has_perf || { echo "profile.sh: perf is missing or not allowed (kernel.perf_event_paranoid)" >&2; exit 1; }
        # Counters that a virtual machine lacks are printed as "not supported"; task-clock and faults always count.
        perf stat -d -- "$meshpace" run "$scenario" --json "$@" >"$out/profile.json"
        perf record -q -g --call-graph dwarf,16384 -F 499 -o "$out/perf.data" -- \
            "$meshpace" run "$scenario" --json "$@" >"$out/profile.json"
        echo "--- functions by their own time"
        perf report -i "$out/perf.data" --no-children -g none --percent-limit 1 --stdio 2>/dev/null | grep -v '^#' | grep .
        echo "--- call graph: perf report -i $out/perf.data"
        ;;
    callgrind)
        has_callgrind || { echo "profile.sh: valgrind is missing: apt-get install valgrind" >&2; exit 1; }
        valgrind --tool=callgrind --callgrind-out-file="$out/callgrind.out" \
            "$meshpace" run "$scenario" --json "$@" >"$out/profile.json"
        echo "--- functions by their own instructions"
        callgrind_annotate "$out/callgrind.out" | head -40
        ;;
esac
