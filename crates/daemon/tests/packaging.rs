//! The packages fit the programs: the OpenWrt mapping, the systemd units.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MESHPACED: &str = env!("CARGO_BIN_EXE_meshpaced");

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The UCI sample as TOML, mapped by this shell; `None` if the machine has no such shell.
fn mapped(shell: &str) -> Option<String> {
    mapped_by(shell, "meshpaced_toml")
}

/// The same by a function of the script.
fn mapped_by(shell: &str, function: &str) -> Option<String> {
    let folder = packaging().join("openwrt/test");
    let words: Vec<&str> = shell.split(' ').collect();
    // OpenWrt's shell is busybox's.
    if Command::new(words[0]).args(&words[1..]).args(["-c", "true"]).output().is_err() {
        return None;
    }
    let mut run = Command::new(folder.join("run.sh"));
    let output = run.arg(folder.join("sample.config")).args([shell, function]).output().unwrap();
    assert!(output.status.success(), "{shell}: {}", said(&output));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_uci_sample_maps_to_a_file_that_check_accepts() {
    let toml = mapped("sh").expect("every system has sh");
    for line in [
        "mode = \"observe\"",
        "interfaces = [\"mesh0\", \"wlan1-mesh\"]",
        "sources = [\"802.11s\", \"ttl\"]",
        "\"10.1.2.0/24\" = 3",
        "paced_share = 0.5",
        "goodput_control = false",
        "interfaces = [\"wlan1-mesh\"]",
        "bytes = 5840",
        "tail = \"50ms\"",
        "socket_buffer = \"4MiB\"",
        "group = \"say \\\"yes\\\" \\\\ no\"",
    ] {
        assert!(toml.lines().any(|found| found == line), "{line}\nis not in\n{toml}");
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("meshpaced.toml");
    std::fs::write(&file, &toml).unwrap();
    let output = Command::new(MESHPACED).arg("check").arg(&file).output().unwrap();
    assert!(output.status.success(), "{}\n{toml}", said(&output));
    let in_force = said(&output);
    for value in ["queue = 20", "ab_seed = 7", "paced_share = 0.5"] {
        assert!(in_force.contains(value), "{value}\nis not in\n{in_force}");
    }
}

#[test]
fn every_shell_maps_alike() {
    let expected = mapped("sh").expect("every system has sh");
    for shell in ["dash", "busybox sh", "bash"] {
        if let Some(toml) = mapped(shell) {
            assert_eq!(toml, expected, "{shell}");
        }
    }
}

#[test]
fn the_edges_file_has_its_own_tables_alone() {
    let toml = mapped_by("sh", "meshpaced_edge_toml").expect("every system has sh");
    let tables: Vec<&str> = toml.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(tables, ["[mesh]", "[edge]"]);
    assert!(!toml.contains("enabled") && toml.contains("interfaces = [\"mesh0\", \"wlan1-mesh\"]"), "{toml}");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("edge.toml");
    std::fs::write(&file, &toml).unwrap();
    let output = Command::new(MESHPACED).arg("check").arg(&file).output().unwrap();
    assert!(output.status.success() && said(&output).contains("bytes = 5840"), "{}\n{toml}", said(&output));
}

#[test]
fn a_value_that_the_daemon_does_not_like_is_named_by_check() {
    let directory = tempfile::tempdir().unwrap();
    let (uci, toml) = (directory.path().join("uci"), directory.path().join("meshpaced.toml"));
    std::fs::write(&uci, "config meshpaced 'main'\n\toption mode 'fast'\n").unwrap();
    let output = Command::new(packaging().join("openwrt/test/run.sh")).arg(&uci).output().unwrap();
    std::fs::write(&toml, output.stdout).unwrap();
    // With the option that other commands have, too.
    for option in [None, Some("--config")] {
        let output = Command::new(MESHPACED).arg("check").args(option).arg(&toml).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("mode: found \"fast\""), "{}", said(&output));
    }
}

/// Every key that the daemon knows can be given as a UCI option, with its default or example: as a number, a word or a list.
#[test]
fn every_key_maps_and_is_accepted() {
    let text = std::fs::read_to_string(packaging().join("meshpaced.toml")).unwrap();
    let (mut table, mut keys) = (String::new(), 0);
    let directory = tempfile::tempdir().unwrap();
    for line in text.lines() {
        if let Some(name) = line.trim_start_matches('#').strip_prefix('[') {
            name.trim_matches(['[', ']']).clone_into(&mut table);
            continue;
        }
        let assignment = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '));
        let Some((key, value)) = assignment.and_then(|rest| rest.split_once(" = ")) else { continue };
        if key == "static" {
            continue; // sections of their own, in the sample
        }
        let kind = if table.is_empty() { "meshpaced" } else { &table };
        let mut uci = format!("config {kind}\n");
        if kind == "subnet" && key != "prefix" {
            uci += "\toption prefix '10.1.2.0/24'\n";
        }
        if key == "fallback_rate" {
            uci += "\toption rate 'nl80211'\n";
        }
        // Keys of a law or of a hook go with it.
        if key.starts_with("dr_") {
            uci += "\toption flow_law 'delay-rate'\n";
        }
        if key.starts_with("filter_") {
            uci += "\toption hook 'ack-filter'\n";
        }
        let bare = |value: &str| value.trim().trim_matches('"').to_owned();
        match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(items) => {
                let items = items.split(',').map(bare).filter(|item| !item.is_empty());
                items.for_each(|item| uci += &format!("\tlist {key} '{item}'\n"));
            }
            None => uci += &format!("\toption {key} '{}'\n", bare(value)),
        }
        let (file, toml) = (directory.path().join("uci"), directory.path().join("meshpaced.toml"));
        std::fs::write(&file, &uci).unwrap();
        let mapped = Command::new(packaging().join("openwrt/test/run.sh")).arg(&file).output().unwrap();
        assert!(mapped.status.success(), "{uci}\n{}", said(&mapped));
        std::fs::write(&toml, &mapped.stdout).unwrap();
        let checked = Command::new(MESHPACED).arg("check").arg(&toml).output().unwrap();
        let mapped = said(&mapped);
        assert!(checked.status.success(), "{uci}\nis mapped to\n{mapped}\n{}", said(&checked));
        let is_there = mapped.lines().any(|line| line.starts_with(&format!("{key} = ")));
        assert!(is_there || value == "[]", "{key} is not in\n{mapped}");
        keys += 1;
    }
    assert!(keys > 50, "{keys} keys");
}

/// A folder in which a procd script runs, with procd's functions played.
struct Router {
    folder: tempfile::TempDir,
    uci: PathBuf,
    program: PathBuf,
    script: &'static str,
}

impl Router {
    fn with(script: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (uci, program) = (folder.path().join("uci"), folder.path().join("meshpaced"));
        // The daemon's check, and a note of everything else that is asked of it.
        let daemon =
            format!("#!/bin/sh\n[ \"$1\" = check ] && exec {MESHPACED} \"$@\"\necho \"called $*\"\n");
        // Another process writes it: a child that another test starts would have a copy of this one's open file until it runs its
        // own program, and a file that is open for writing cannot be run (execve(2), ETXTBSY).
        let write = "printf '%s' \"$2\" > \"$1\" && chmod 755 \"$1\"";
        let wrote = Command::new("sh").args(["-c", write, "sh"]).arg(&program).arg(&daemon).status().unwrap();
        assert!(wrote.success());
        Self { folder, uci, program, script }
    }

    /// What functions of the script print.
    fn run(&self, functions: &[&str], running: &str) -> String {
        let init = packaging().join("openwrt/test/init.sh");
        let mut command = Command::new(init);
        command.args([self.folder.path(), &self.uci, &self.program]).args(functions);
        let output = command.env("RUNNING", running).env("SCRIPT", self.script).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    }
}

/// The edge's: started beside the gateway or alone, anew where its file has changed, with the earlier file where the new one is wrong.
#[test]
fn the_edges_procd_script_starts_it_and_keeps_a_right_file() {
    let router = Router::with("meshpaced-edge.init");
    let write = |main: u8, edge: u8, tail: &str| {
        let text = format!(
            "config meshpaced 'main'\n\toption enabled '{main}'\n\toption mode 'observe'\n\
             config mesh 'mesh'\n\tlist interfaces 'mesh0'\nconfig edge 'edge'\n\toption enabled '{edge}'\n\toption tail '{tail}'\n"
        );
        std::fs::write(&router.uci, text).unwrap();
    };
    let file = router.folder.path().join("var/etc/meshpaced-edge.toml");
    write(1, 0, "80ms");
    assert_eq!(router.run(&["start_service"], "0"), "", "not enabled");
    assert!(!file.exists());
    write(0, 1, "soon");
    let refused = router.run(&["start_service"], "0");
    assert!(
        refused.contains("tail: found \"soon\"") && refused.contains("failed: start_service"),
        "{refused}"
    );
    write(0, 1, "80ms");
    let started = router.run(&["start_service", "service_triggers"], "0");
    let lines: Vec<&str> = started.lines().collect();
    let command = format!("command {} edge --config {}", router.program.display(), file.display());
    let watched = format!("file {}", file.display());
    assert_eq!((lines[0], lines[1], lines[2]), ("open", command.as_str(), watched.as_str()));
    assert!(lines.contains(&"respawn") && lines.ends_with(&["close", "trigger meshpaced"]), "{started}");
    assert!(router.folder.path().join("var/run/meshpaced-edge").is_dir());
    assert!(std::fs::read_to_string(&file).unwrap().contains("[edge]\ntail = \"80ms\"\n"));
    write(0, 1, "soon");
    let kept = router.run(&["start_service"], "1");
    assert!(kept.contains("tail: found \"soon\"") && kept.contains(&command), "{kept}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("80ms"), "the earlier file stays");
}

/// The procd script, with procd's functions played: what is started, with which file, and that a wrong one changes nothing.
#[test]
fn the_procd_script_starts_reloads_and_keeps_a_right_file() {
    let router = Router::with("meshpaced.init");
    let Router { folder, uci, program, .. } = &router;
    let run = |functions: &[&str], running: &str| router.run(functions, running);
    let write = |enabled: u8, mode: &str| {
        let text = format!(
            "config meshpaced 'main'\n\toption enabled '{enabled}'\n\toption mode '{mode}'\n\
             config mesh 'mesh'\n\tlist interfaces 'mesh0'\n"
        );
        std::fs::write(uci, text).unwrap();
    };
    let file = folder.path().join("var/etc/meshpaced.toml");
    write(0, "observe");
    assert_eq!(run(&["start_service"], "0"), "", "not enabled");
    assert!(!file.exists());
    write(1, "observe");
    let started = run(&["start_service", "service_triggers"], "0");
    let command = format!("command {} gateway --config {}", program.display(), file.display());
    let lines: Vec<&str> = started.lines().collect();
    assert_eq!((lines[0], lines[1], lines.last()), ("open", command.as_str(), Some(&"trigger meshpaced")));
    assert!(lines.contains(&"respawn") && lines.contains(&"close"), "{started}");
    assert!(folder.path().join("var/run/meshpaced").is_dir());
    let right = std::fs::read_to_string(&file).unwrap();
    assert!(right.contains("mode = \"observe\""), "{right}");
    write(1, "pace");
    assert_eq!(run(&["reload_service"], "1"), "called reload\n");
    assert!(std::fs::read_to_string(&file).unwrap().contains("mode = \"pace\""));
    assert_eq!(run(&["reload_service"], "0"), "restart\n", "it does not run");
    write(1, "fast");
    let refused = run(&["reload_service"], "1");
    assert!(
        refused.contains("mode: found \"fast\"") && refused.contains("failed: reload_service"),
        "{refused}"
    );
    assert!(std::fs::read_to_string(&file).unwrap().contains("mode = \"pace\""), "the earlier file stays");
    write(0, "pace");
    assert_eq!(run(&["reload_service"], "1"), "restart\n", "which starts nothing");
}

/// The package's Makefile under a stand-in for the SDK: what lands where.
#[test]
fn the_openwrt_package_has_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let (build, root) = (folder.path().join("build"), folder.path().join("root"));
    let place = |name: &str, path: &Path| format!("{name}={}", path.display());
    let output = Command::new("make")
        .arg("-C")
        .arg(packaging().join("openwrt"))
        .arg(place("TOPDIR", &packaging().join("openwrt/test/sdk")))
        .arg(place("BUILD_DIR", &build))
        .arg(place("DESTINATION", &root))
        .arg(place("MESHPACED_BINARY", Path::new(MESHPACED)))
        .output()
        .unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.contains(&format!("meshpaced {version}: /etc/config/meshpaced")), "{text}");
    let mode = |path: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(root.join(path)).map(|found| found.permissions().mode() & 0o777).ok()
    };
    for (path, expected) in [
        ("usr/sbin/meshpaced", 0o755),
        ("etc/init.d/meshpaced", 0o755),
        ("etc/init.d/meshpaced-edge", 0o755),
        ("usr/lib/meshpaced/uci-to-toml.sh", 0o644),
        ("etc/config/meshpaced", 0o600),
    ] {
        assert_eq!(mode(path), Some(expected), "{path}");
    }
}

/// A directive's words in a unit, of all its lines.
fn directive(unit: &str, name: &str) -> Vec<String> {
    let values = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    values.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// What the gateway may do, whether or not systemd is there to judge it.
#[test]
fn the_gateways_unit_gives_what_it_takes_and_no_more() {
    let unit = std::fs::read_to_string(packaging().join("systemd/meshpaced.service")).unwrap();
    let is = |name: &str, expected: &[&str]| assert_eq!(directive(&unit, name), expected, "{name}");
    is("User", &["meshpaced"]);
    is("Group", &["meshpaced"]);
    is("SupplementaryGroups", &["root"]);
    is("CapabilityBoundingSet", &["CAP_NET_ADMIN", "CAP_NET_RAW"]);
    is("AmbientCapabilities", &["CAP_NET_ADMIN", "CAP_NET_RAW"]);
    is("NoNewPrivileges", &["yes"]);
    is("ProtectSystem", &["strict"]);
    is("ReadWritePaths", &[]);
    is("RuntimeDirectory", &["meshpaced"]);
    is("RuntimeDirectoryMode", &["0711"]);
    is("LogsDirectoryMode", &["0750"]);
    is("UMask", &["0077"]);
    is("MemoryMax", &["50%"]);
    is("Type", &["notify"]);
    is("WatchdogSec", &["10"]);
    is("StartLimitIntervalSec", &["0"]);
    is("RestartPreventExitStatus", &["2"]);
    // Real-time scheduling without CAP_SYS_NICE, at the priority that is asked for; locked memory without CAP_IPC_LOCK.
    is("LimitRTPRIO", &["50"]);
    is("LimitMEMLOCK", &["infinity"]);
    let users = std::fs::read_to_string(packaging().join("systemd/meshpaced.sysusers")).unwrap();
    assert!(users.lines().any(|line| line.starts_with("u meshpaced - ")), "{users}");
    let ebpf = std::fs::read_to_string(packaging().join("systemd/meshpaced-ebpf.conf")).unwrap();
    assert_eq!(directive(&ebpf, "AmbientCapabilities"), ["CAP_BPF", "CAP_PERFMON"]);
}

#[test]
fn systemd_finds_little_exposed() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return; // nothing to ask on a machine without systemd
    }
    let analyze = |unit: &Path| {
        let security = ["security", "--offline=yes", "--no-pager", "--threshold=20"];
        let output = Command::new("systemd-analyze").args(security).arg(unit).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    let unit = packaging().join("systemd/meshpaced.service");
    analyze(&unit);
    // And with the rights of the eBPF data path.
    let directory = tempfile::tempdir().unwrap();
    let drop_ins = directory.path().join("meshpaced.service.d");
    std::fs::create_dir(&drop_ins).unwrap();
    std::fs::copy(&unit, directory.path().join("meshpaced.service")).unwrap();
    std::fs::copy(packaging().join("systemd/meshpaced-ebpf.conf"), drop_ins.join("ebpf.conf")).unwrap();
    analyze(&directory.path().join("meshpaced.service"));
}

#[test]
fn systemd_understands_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return; // nothing to ask on a machine without systemd
    }
    let directory = tempfile::tempdir().unwrap();
    for name in ["meshpaced.service", "meshpaced-host.service", "meshpaced-edge.service"] {
        let unit = std::fs::read_to_string(packaging().join("systemd").join(name)).unwrap();
        // The binary where it was built, and no pages of a manual that is not installed.
        let unit = unit.replace("/usr/bin/meshpaced", MESHPACED);
        let unit: String = unit
            .lines()
            .filter(|line| !line.starts_with("Documentation="))
            .map(|line| format!("{line}\n"))
            .collect();
        let file = directory.path().join(name);
        std::fs::write(&file, unit).unwrap();
        let output = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
        // Complaints about other units of this machine are not about this one.
        let text = said(&output);
        let complaints: Vec<&str> = text.lines().filter(|line| line.contains(name)).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}
