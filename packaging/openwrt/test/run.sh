#!/bin/sh
# Checks the UCI mapping without OpenWrt: `uci` and the few functions of /lib/functions.sh that the script uses are stood in
# for by a reader of the UCI file format. Usage: run.sh UCI-FILE [SHELL [FUNCTION]]; prints the TOML file, by meshpaced_toml or FUNCTION.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2086 # "busybox sh" is two words
exec ${2:-sh} -c '
	. "$1/functions.sh"
	. "$1/../files/uci-to-toml.sh"
	uci_load "$2"
	"$3"
' sh "$here" "$1" "${3:-meshpaced_toml}"
