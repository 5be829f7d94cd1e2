# From UCI to meshpaced's TOML file. Sourced after /lib/functions.sh; call config_load first, then meshpaced_toml, which
# prints the file, or meshpaced_edge_toml, which prints what `meshpaced edge` goes by. Section types are the file's tables, options its keys: what the daemon learns this script knows, too.
# Beside them are `enabled` of `main` and of `edge`: what procd starts. Values that are numbers or true/false stand bare, all others as strings; the daemon says what it does not like.

_quoted() {
	# TOML basic strings (toml.io, "String"): backslash and quote are escaped; UCI values have no line ends.
	printf '"%s"' "$(printf '%s' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g')"
}

_value() {
	case "$1" in
		true | false) printf '%s' "$1" ;;
		'' | *[!0-9.]* | .* | *. | *.*.* | 0[0-9]*) _quoted "$1" ;;
		*) printf '%s' "$1" ;;
	esac
}

# Lists become arrays: options that UCI gives as `list`.
_item() {
	[ -z "$_items" ] || _items="$_items, "
	_items="$_items$(_quoted "$1")"
}

_is_list() {
	case "$1" in
		interfaces | subnets | sources) return 0 ;;
		*) return 1 ;;
	esac
}

# _options SECTION SKIPPED...: the section's options as keys.
_options() {
	local section="$1" option value
	shift
	for option in $(_option_names "$section"); do
		case " $* " in *" $option "*) continue ;; esac
		if _is_list "$option"; then
			_items=
			config_list_foreach "$section" "$option" _item
			printf '%s = [%s]\n' "$option" "$_items"
		else
			config_get value "$section" "$option"
			printf '%s = %s\n' "$option" "$(_value "$value")"
		fi
	done
}

# The names of a section's options, in the order of the file.
_option_names() {
	uci -q ${UCI_CONFIG_DIR:+-c "$UCI_CONFIG_DIR"} show "meshpaced.$1" | sed -n "s/^meshpaced\.[^.=]*\.\([A-Za-z0-9_]*\)=.*/\1/p"
}

_table() {
	printf '\n[%s]\n' "$2"
	_options "$1" enabled
}

_static() {
	local prefix hops
	config_get prefix "$1" prefix
	config_get hops "$1" hops
	printf '%s = %s\n' "$(_quoted "$prefix")" "$(_value "$hops")"
}

_subnet() {
	printf '\n[[subnet]]\n'
	_options "$1"
}

meshpaced_toml() {
	_head
	config_foreach _main meshpaced
	_tables mesh hops law gateway hosts guard nfqueue control metrics events host edge
	_seen=
	config_foreach _note static
	if [ -n "$_seen" ]; then
		printf '\n[hops.static]\n'
		config_foreach _static static
	fi
	config_foreach _subnet subnet
}

meshpaced_edge_toml() {
	_head
	_tables mesh edge
}

_head() {
	echo '# Made of /etc/config/meshpaced: changes belong there.'
}

_tables() {
	local table
	for table; do
		config_foreach _table "$table" "$table"
	done
}

_main() {
	_options "$1" enabled
}

_note() {
	_seen=1
}
