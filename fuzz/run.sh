#!/bin/sh
# Fuzzes every target (or those named) for a while: fuzz/run.sh SECONDS [TARGET...]. Ends at the first finding, which
# then lies in fuzz/artifacts. What was learned stays in fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
[ $# -gt 0 ] || set -- scenario overrides connection gateway routing wire options outline engine hosts configuration control hops kernel plausible monitor programs records tools filter stack

# Plain libFuzzer needs no nightly compiler; the sanitizers would, and the crates forbid unsafe code.
cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz@0.13.2
# What makes the program fast would take the compiler long, for each of the targets.
export CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
cargo fuzz build --sanitizer none

# The keys and words of the scenario file, from where the program has them.
mkdir -p fuzz/corpus
words=fuzz/corpus/words.dict
grep -rhoE '"[A-Za-z0-9][A-Za-z0-9_.-]{1,30}"' crates/scenario/src/keys crates/schemes/src | sort -u >"$words"
configuration=fuzz/corpus/configuration.dict
grep -rhoE '"[A-Za-z0-9][A-Za-z0-9_.-]{1,30}"' crates/daemon/src/config crates/pacing/src crates/gateway/src | sort -u >"$configuration"

for target in "$@"; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    case $target in
    scenario) set -- "$corpus" fuzz/seeds/scenario scenarios -- -dict="$words" ;;
    overrides) set -- "$corpus" fuzz/seeds/overrides -- -dict="$words" -max_len=1024 ;;
    configuration) set -- "$corpus" fuzz/seeds/configuration -- -dict="$configuration" -seed_inputs=packaging/meshpaced.toml ;;
    hops) set -- "$corpus" fuzz/seeds/hops tests/fixtures/olsr -- -max_len=4096 ;;
    control | kernel | programs | records | tools) set -- "$corpus" "fuzz/seeds/$target" -- -max_len=4096 ;;
    monitor) set -- "$corpus" fuzz/seeds/monitor -- -max_len=16384 ;;
    outline) set -- "$corpus" fuzz/seeds/wire -- -max_len=512 ;;
    wire | options) set -- "$corpus" "fuzz/seeds/$target" -- -max_len=512 ;;
    *) set -- "$corpus" -- -max_len=8192 ;;
    esac
    echo "fuzzing $target for $seconds s"
    nice -n 10 cargo fuzz run --sanitizer none "$target" "$@" \
        -max_total_time="$seconds" -timeout=20 -print_final_stats=1 -verbosity=0
done
