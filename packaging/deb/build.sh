#!/bin/sh
# Builds the Debian package. Usage: build.sh BINARY MESHPACED FOLDER
#   BINARY     the static meshpaced that goes into the package, of whatever processor
#   MESHPACED  one that runs here, for man pages and completions; may be the same
#   FOLDER     where the package is written; prints its path
set -eu
binary=$1 meshpaced=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
version=$("$meshpaced" --version | cut -d ' ' -f 2)
# The same sources, the same bytes.
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

# e_ident[EI_DATA] and e_machine of the ELF header (elf(5)), as Debian names the architectures.
machine=$(od -An -j 18 -N 2 -t x1 "$binary" | tr -d ' ')
case $(od -An -j 5 -N 1 -t x1 "$binary" | tr -d ' ')$machine in
	013e00) arch=amd64 ;;
	01b700) arch=arm64 ;;
	012800) arch=armhf ;;
	01f300) arch=riscv64 ;;
	010300) arch=i386 ;;
	010800) arch=mipsel ;;
	*) echo "$binary: machine $machine is none that this script knows" >&2; exit 1 ;;
esac

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
# put MODE FILE PATH
put() { install -D -m "$1" "$2" "$tree/$3"; }
put 755 "$binary" usr/bin/meshpaced
for unit in meshpaced.service meshpaced-host.service meshpaced-edge.service; do
	put 644 "$root/packaging/systemd/$unit" usr/lib/systemd/system/$unit
done
put 644 "$root/packaging/systemd/meshpaced.sysusers" usr/lib/sysusers.d/meshpaced.conf
put 644 "$here/logrotate" etc/logrotate.d/meshpaced
doc=usr/share/doc/meshpaced
put 644 "$here/copyright" $doc/copyright
pages='meshpaced|meshpaced-config|hosts|law|host|edge|ebpf|endpoint|schemes|nat|congestion|robustness|gateway-waits|benchmarks-gateway'
for page in $(echo "$pages" | tr '|' ' '); do
	# A link to what the package does not have becomes its words.
	sed -E -e "s/\]\((($pages)\.md[^)]*|#[^)]*|https?:[^)]*)\)/](@\1)/g" \
		-e 's/!?\[([^]]*)\]\([^@)][^)]*\)/\1/g' -e 's/\]\(@/](/g' "$root/docs/${page}.md" > "$tree/page"
	put 644 "$tree/page" "$doc/${page}.md"
	rm "$tree/page"
done
put 644 "$root/packaging/meshpaced.toml" $doc/examples/meshpaced.toml
put 644 "$root/packaging/systemd/meshpaced-ebpf.conf" $doc/examples/meshpaced-ebpf.conf
put 644 "$root/packaging/grafana/meshpaced.json" $doc/examples/grafana.json
put 644 "$root/CHANGELOG.md" $doc/changelog

"$meshpaced" man "$tree/usr/share/man/man1"
gzip -9n "$tree"/usr/share/man/man1/* "$tree/$doc/changelog" "$tree/$doc"/*.md
completion() { mkdir -p "$tree/${2%/*}"; "$meshpaced" man --completions "$1" > "$tree/$2"; }
completion bash usr/share/bash-completion/completions/meshpaced
completion zsh usr/share/zsh/vendor-completions/_meshpaced
completion fish usr/share/fish/vendor_completions.d/meshpaced.fish

mkdir "$tree/DEBIAN"
for script in postinst prerm postrm; do
	install -m 755 "$here/$script" "$tree/DEBIAN/$script"
done
echo /etc/logrotate.d/meshpaced > "$tree/DEBIAN/conffiles"
find "$tree" -mindepth 1 -type d -exec chmod 755 {} +
find "$tree/usr/share" -type f -exec chmod 644 {} +
size=$(du -sk --apparent-size --exclude DEBIAN "$tree" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@SIZE@/$size/" "$here/control" > "$tree/DEBIAN/control"
(cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) > "$tree/DEBIAN/md5sums"

mkdir -p "$folder"
package=$folder/meshpaced_${version}_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" > /dev/null
echo "$package"
