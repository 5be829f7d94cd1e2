#!/bin/sh
# How `make test` calls the compiler for the project's crates (RUSTC_WORKSPACE_WRAPPER): a crate's tests at opt-level 0,
# the libraries that they call as the profile says. A crate of which others' tests take long in is optimised for those;
# its own tests are larger than itself, and most of them run for less than the compiler would take.
rustc=$1
shift
for word in "$@"; do
    [ "$word" != --test ] || exec "$rustc" "$@" -C opt-level=0
done
exec "$rustc" "$@"
