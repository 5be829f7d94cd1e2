#!/bin/sh
# Runs functions of a procd script without OpenWrt. Usage: init.sh FOLDER UCI-FILE PROGRAM FUNCTION...
# FOLDER stands for /; PROGRAM for the daemon: what would be called is printed. RUNNING=1: procd says that it runs. SCRIPT names
# the script, meshpaced.init if it is not set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 uci=$2 program=$3
shift 3
. "$here/functions.sh"
. "$here/../files/uci-to-toml.sh"

config_load() { _sections= _values=; uci_load "$uci"; }
config_get_bool() {
	local _bool
	config_get _bool "$2" "$3"
	case "${_bool:-$4}" in 1 | on | true | yes | enabled) eval "$1=1" ;; *) eval "$1=0" ;; esac
}
procd_open_instance() { echo open; }
procd_set_param() { echo "$*"; }
procd_close_instance() { echo close; }
procd_add_reload_trigger() { echo "trigger $*"; }
service_running() { [ "${RUNNING:-0}" = 1 ]; }
restart() { echo restart; }

# The script itself, with its places moved below the folder.
sed -e '1d' -e '/uci-to-toml.sh/d' -e "s|/var/|$folder/var/|g" -e "s|^PROG=.*|PROG=$program|" "$here/../files/${SCRIPT:-meshpaced.init}" > "$folder/init"
. "$folder/init"
for function; do
	"$function" || echo "failed: $function"
done
