# meshpace: `make demo` and `make test` set everything up on a machine with Rust, Python 3.11 and a C compiler.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Older pyenv or distribution set-ups may only have `python3`; it must be 3.11 or later.
ifeq ($(shell command -v $(PYTHON) 2>/dev/null),)
PYTHON := python3
endif

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: setup trained for-tests demo demo-gateway test soak test-vm validate bench bench-gateway fuzz static packages wheel wheel-for-tests site tables reproduction release-check clean

## Virtual environment, tools, the engine as an extension module, the daemon; Debian packages where root.
setup: $(VENV)/.debian $(VENV)/.engine target/release/meshpaced

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.13,<2'
	touch $@

# The engine and, with it, the package and its dependencies. maturin installs in place: Python changes act at once.
$(VENV)/.engine: $(VENV)/.tools $(RUST_SOURCES)
	@echo "compiling the engine and fetching its Python packages: about two minutes the first time, without another word"
	$(DEVELOP) --release
	rm -f $(VENV)/.checked
	touch $@

## The same engine, up to a fifth faster (docs/benchmarks.md): built, run to see which branches it takes, built again; three times as long.
trained: $(VENV)/.tools
	rustup component add llvm-tools
	$(DEVELOP) --release --pgo
	rm -f $(VENV)/.checked
	touch $(VENV)/.engine

DEVELOP = PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --extras dev

# ns-2, the judge of `meshpace crosscheck`; tshark and Chromium, which the tests of packet captures and of the report
# use; clang for the eBPF programs; what the live tests put network namespaces together with. Only root can install them.
DEBIAN := ns2 tshark chromium
DEBIAN_LIVE := clang llvm libbpf-dev bpftool iproute2 nftables iptables iperf3 ethtool tcpdump kmod procps mmdebstrap \
  busybox curl openssh-client libwrap0
$(VENV)/.debian: Makefile | $(VENV)/.tools
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! ( for c in ns tshark chromium clang llc bpftool ip nft \
	    iptables iperf3 ethtool tcpdump kmod sysctl mmdebstrap busybox curl ssh; do command -v $$c || exit 1; done ) >/dev/null; then \
	    echo "installing $(DEBIAN) $(DEBIAN_LIVE)"; \
	    apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(DEBIAN_LIVE) >/dev/null \
	      || echo "not installed: $(DEBIAN_LIVE): meshpaced's eBPF programs and the live tests need them"; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(DEBIAN) >/dev/null \
	      || echo "not installed: $(DEBIAN): crosscheck, the tests of captures and of the report need them"; \
	fi
# Installed, sshd would open a port of the machine; a test of the emulator wants the program alone.
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v sshd >/dev/null && [ ! -x $(VENV)/debian/usr/sbin/sshd ]; then \
	    cd $(VENV) && apt-get download -qq openssh-server >/dev/null 2>&1 && dpkg -x openssh-server_*.deb debian && rm openssh-server_*.deb \
	      || echo "not unpacked: openssh-server: a test of the emulator needs its sshd"; \
	fi
# Installed, babeld and BIRD would route for the machine; tests of the emulator want the programs alone.
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! ( for c in babeld bird; do \
	    PATH="$$PATH:$(VENV)/debian/usr/sbin:/usr/sbin" command -v $$c || exit 1; done ) >/dev/null; then \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libb2-1 libssh-gcrypt-4 >/dev/null \
	      && cd $(VENV) && apt-get download -qq babeld bird2 >/dev/null 2>&1 \
	      && for package in babeld_*.deb bird2_*.deb; do dpkg -x $$package debian && rm $$package; done \
	      || echo "not unpacked: babeld bird2: tests of the emulator need them"; \
	fi
	touch $@

# The daemon, and the relay that its tests and its demo put between network namespaces. Without clang: without eBPF.
BPF_SOURCES := $(shell find bpf -type f 2>/dev/null)
BUILD_DAEMON = cargo build --quiet -p meshpace-daemon -p meshpace-linux --bin meshpaced --bin relay \
  $(if $(shell command -v clang 2>/dev/null),,--no-default-features --features "manual top")
target/release/meshpaced: $(RUST_SOURCES) $(BPF_SOURCES) | $(VENV)/.debian
	$(BUILD_DAEMON) --release
	touch $@

# What `make test` runs: what `make setup` has built of these sources, where it has; else the same in half of the
# compiler's time ([profile.checked] in Cargo.toml). `make demo` and the like build what they need anew after it.
for-tests: $(VENV)/.debian
	@if $(MAKE) --question $(VENV)/.engine target/release/meshpaced >/dev/null 2>&1; then echo release; \
	  else $(MAKE) --no-print-directory $(VENV)/.checked >&2 && echo checked; fi >$(VENV)/.tested
$(VENV)/.checked: $(VENV)/.tools $(RUST_SOURCES) $(BPF_SOURCES) | $(VENV)/.debian
	rm -f $(VENV)/.engine
	$(DEVELOP) --profile checked
	$(BUILD_DAEMON) --profile checked
	touch $@

## The tables that are made of data, below the marks of docs/experiments and docs/reproduction: of papers/, and of the runs in STORE.
STORE ?=
tables: $(VENV)/.engine
	$(BIN)/meshpace study claims all --write docs/experiments
	$(if $(STORE),$(BIN)/meshpace report --store $(STORE) --output $(STORE)/report.html --verdicts docs/reproduction)

## The papers' pages in docs/reproduction, all from this engine, and the manifest beside them. It goes on where it ended: HOURS=2 ends it then,
## EFFORT=full is as long as in the papers, PAPERS="gap we" these alone, BUDGET=20min the time for seeds that decide, of each paper. On several
## machines: EXECUTOR=dask://HOST:PORT, or the same command on each with one store on a file system that all see, REPRODUCTION=DIR.
PAPERS ?= all
EFFORT ?= quick
HOURS ?=
BUDGET ?=
EXECUTOR ?= threads
REPRODUCTION ?= reproduction
reproduction: $(VENV)/.engine
	$(BIN)/meshpace study reproduce $(PAPERS) --$(EFFORT) --store $(REPRODUCTION) --executor $(EXECUTOR) \
	  $(if $(HOURS),--hours $(HOURS)) $(if $(BUDGET),--budget $(BUDGET))

## Before a release: the papers' pages are this engine's, all of them, and as their manifest has them.
release-check: $(VENV)/.engine
	$(BIN)/meshpace study pages --release

## The main job: NewReno against TCP-AP and TCP-GAP; prints the tables, writes report.html.
demo: $(VENV)/.engine
	$(BIN)/meshpace demo

## What the gateway changes, on this machine and without a radio: two downloads, before and after; as root.
demo-gateway: target/release/meshpaced $(VENV)/.engine
	$(BIN)/python bench/demo_gateway.py

## Everything that can fail, lints included: every part runs, and what failed stands at the end. PARTS="clippy pytest" runs
## those alone. What depends on the machine's clock is no part of it: `make soak`.
PARTS ?=
test:
	@$(PYTHON) tests/everything.py $(PARTS)

## Beside `test`: exact times (lateness, start-up, fail-over), which take a quiet machine; a gateway with 10,000 connections
## for SOAK_SECONDS, under faults and floods at random; then the suites SOAK_ROUNDS times, every other time on busy processors,
## property tests with new cases. As root; two hours or three. PARTS="exact gateway rounds" runs those alone.
SOAK_ROUNDS ?= 10
SOAK_SECONDS ?= 3600
soak: setup
	@$(BIN)/python tests/soak.py --rounds $(SOAK_ROUNDS) --seconds $(SOAK_SECONDS) $(PARTS)

## Beside `test`: what this machine's kernel may lack (sch_fq, netem, 802.11), in Debian's kernel under QEMU without KVM. Root,
## for apt; fetches the packages of kernel (70 MB) and babeld once. Its clock is its own: a busy machine takes longer, no more.
## VM_CASES=1,3 runs these cases alone; VM_CASES=13 VM_BESIDE="use --runs 3" VM_SECONDS=9000 prints a table of docs/hosts.md.
DEBIAN_VM := qemu-system-x86 busybox-static cpio kmod iw iproute2 nftables bpftool tcpdump
test-vm: target/release/meshpaced
	@if ! ( for c in qemu-system-x86_64 busybox cpio kmod iw nft bpftool tcpdump; do command -v $$c || exit 1; done ) >/dev/null; then \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(DEBIAN_VM) >/dev/null; \
	fi
	cargo build --quiet --release -p meshpace-radio --example minstrel
	tests/vm/run.sh target/release/meshpaced target/release/examples/minstrel target/vm

## The engine against measurements of ns-2.35; rewrites docs/validation.md.
validate: $(VENV)/.engine
	$(BIN)/meshpace validate --output docs/validation.md

## What commands take to start, which has bounds; the engine beside ns-2 and ns-3; rewrites docs/benchmarks.md.
bench: setup
	$(BIN)/python bench/start.py
	$(BIN)/python bench/run.py
	$(BIN)/python bench/high_throughput.py

## The live gateway beside plain forwarding, as root; rewrites docs/benchmarks-gateway.md.
bench-gateway: setup
	$(BIN)/python bench/run_gateway.py

## Every fuzz target for FUZZ_SECONDS (docs/fuzzing.md).
FUZZ_SECONDS ?= 180
fuzz:
	fuzz/run.sh $(FUZZ_SECONDS)

## meshpaced as one static file, target/static/meshpaced, for this machine's processor or for STATIC_TARGET. With musl where
## its standard library is installed or rustup can fetch it, else with glibc, for this processor only. STATIC_FEATURES leaves parts out:
## "--no-default-features --features ebpf,manual" `meshpaced top`, --no-default-features `meshpaced man`, the eBPF programs, and clang, too.
## STATIC_PROFILE=small makes it small where packets do not come through.
STATIC_TARGET ?= $(shell uname -m)-unknown-linux-musl
STATIC_FEATURES ?=
STATIC_PROFILE ?= release
# For another processor than this machine's; LLVM's, which comes with Rust, links for all.
STATIC_LINKER ?= rust-lld
static:
	@mkdir -p target/static
	@target=$(STATIC_TARGET); \
	if ! [ -d "$$(rustc --print target-libdir --target $$target 2>/dev/null)" ] && ! rustup target add $$target 2>/dev/null; then \
	    here=$$(rustc -vV | sed -n 's/^host: //p'); \
	    [ "$${target%%-*}" = "$${here%%-*}" ] || { echo "no standard library for $$target to be had" >&2; exit 1; }; \
	    echo "no $$target to be had: static with glibc for $$here"; \
	    target=$$here; \
	fi; \
	lld=$$(rustc --print sysroot)/lib/rustlib/$$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld; \
	case $$target in \
	    $$(uname -m)-*-musl) small="-C link-arg=-fuse-ld=lld -C link-arg=-B$$lld -C link-arg=-Wl,--icf=all,-z,pack-relative-relocs" ;; \
	    $$(uname -m)-*) small= ;; \
	    *) small="-C link-arg=--icf=all -C link-arg=-zpack-relative-relocs"; \
	       export CARGO_TARGET_$$(echo $$target | tr a-z- A-Z_)_LINKER=$(STATIC_LINKER) ;; \
	esac; \
	RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols $$small" \
	    cargo build --profile $(STATIC_PROFILE) --target-dir target -p meshpace-daemon --bin meshpaced $(STATIC_FEATURES) --target $$target \
	  && cp target/$$target/$(STATIC_PROFILE)/meshpaced target/static/meshpaced
	@ls -l target/static/meshpaced

## The Debian package of that file, target/packages/meshpaced_VERSION_PROCESSOR.deb. For another processor man pages and completions come
## from target/release/meshpaced. tests/live/test_package.py installs, runs, upgrades, removes and purges one in a clean Debian.
packages: static
	@here=target/static/meshpaced; \
	$$here --version >/dev/null 2>&1 || { $(MAKE) target/release/meshpaced && here=target/release/meshpaced; }; \
	packaging/deb/build.sh target/static/meshpaced $$here target/packages

## A wheel for Python 3.11 and later, target/wheels/, scenarios and papers included, which needs no Rust where it is installed. WHEEL_GLIBC=2.17
## (or another) links with zig's copy of that glibc; WHEEL_GLIBC= with this machine's. WHEEL_TRAINED=yes builds it as `make trained` does.
WHEEL_GLIBC ?= 2.17
WHEEL_DIR ?= target/wheels
WHEEL_PROFILE ?= release
wheel: $(VENV)/.tools
	$(if $(WHEEL_GLIBC),$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang)
	@trap 'rm -rf python/meshpace/scenarios python/meshpace/papers' EXIT; mkdir -p python/meshpace/scenarios && cp scenarios/*.toml python/meshpace/scenarios \
	  && for file in papers/*/*.toml papers/*/*.py; do install -D -m 644 $$file python/meshpace/$$file || exit 1; done \
	  && VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(BIN)):$$PATH $(BIN)/maturin build --profile $(WHEEL_PROFILE) --quiet --out $(WHEEL_DIR) $(if $(WHEEL_TRAINED),--pgo) \
	    $(if $(WHEEL_GLIBC),--zig --compatibility manylinux_$(subst .,_,$(WHEEL_GLIBC)))
	@ls -l $(WHEEL_DIR)/*.whl

# The wheel of what tests run: nothing is compiled for it.
wheel-for-tests: for-tests
	@$(MAKE) --no-print-directory wheel WHEEL_GLIBC= WHEEL_PROFILE=$$(cat $(VENV)/.tested)

## The documentation as HTML, target/site/index.html: tutorial, how-tos, reference from schema and help, schemes with formulas.
site: $(VENV)/.engine
	$(BIN)/python packaging/site/build.py target/site

clean:
	rm -rf $(VENV) target fuzz/target python/meshpace/_engine.abi3.so .mypy_cache .ruff_cache .pytest_cache report.html
