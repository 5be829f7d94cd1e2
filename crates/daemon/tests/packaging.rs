//! What is packaged fits what is built: the OpenWrt mapping, the systemd units.

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
    let folder = packaging().join("openwrt/test");
    let words: Vec<&str> = shell.split(' ').collect();
    // OpenWrt's shell is busybox's.
    if Command::new(words[0]).args(&words[1..]).args(["-c", "true"]).output().is_err() {
        return None;
    }
    let output =
        Command::new(folder.join("run.sh")).arg(folder.join("sample.config")).arg(shell).output().unwrap();
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

#[test]
fn systemd_understands_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return; // nothing to ask on a machine without systemd
    }
    let directory = tempfile::tempdir().unwrap();
    for name in ["meshpaced.service", "meshpaced-host.service"] {
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
