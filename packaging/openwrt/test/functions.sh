# Stands in for OpenWrt's /lib/functions.sh and uci(1), as far as uci-to-toml.sh uses them, for one file of plain UCI.

# Lines "SECTION TYPE" and "SECTION OPTION VALUE", in the order of the file.
_sections=
_values=
_newline='
'

uci_load() {
	local word type name value section number=0
	while read -r word type name; do
		case "$word" in
			config)
				name=$(_unquoted "$name")
				section=${name:-cfg$number}
				number=$((number + 1))
				_sections="$_sections$section $type$_newline"
				;;
			option | list)
				value=$(_unquoted "$name")
				_values="$_values$section $type $value$_newline"
				;;
		esac
	done < "$1"
}

_unquoted() {
	local text="$1"
	text=${text#[\'\"]}
	text=${text%[\'\"]}
	printf '%s' "$text"
}

config_foreach() {
	local function="$1" wanted="$2" section type
	shift 2
	while read -r section type; do
		[ "$type" != "$wanted" ] || "$function" "$section" "$@"
	done <<-END
		$_sections
	END
}

config_get() {
	local _found=
	while read -r _section _option _value; do
		[ "$_section $_option" != "$2 $3" ] || _found=$_value
	done <<-END
		$_values
	END
	eval "$1=\$_found"
}

config_list_foreach() {
	local section option value
	while read -r section option value; do
		[ "$section $option" != "$1 $2" ] || "$3" "$value"
	done <<-END
		$_values
	END
}

# uci -q show meshpaced.SECTION
uci() {
	local wanted section option value shown=' '
	while [ "$1" != show ]; do shift; done
	wanted=${2#meshpaced.}
	while read -r section option value; do
		[ "$section" = "$wanted" ] || continue
		case "$shown" in *" $option "*) continue ;; esac
		shown="$shown$option "
		printf "meshpaced.%s.%s='%s'\n" "$section" "$option" "$value"
	done <<-END
		$_values
	END
}
