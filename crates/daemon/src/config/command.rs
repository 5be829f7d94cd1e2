//! `meshpaced check`.

use super::{Config, DEFAULT_FILE, Memory, contents, describe, read};
use crate::Failure;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `meshpaced check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file.
    #[arg(default_value = DEFAULT_FILE)]
    file: PathBuf,
    /// The same, as other commands have it.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// Print a document about the configuration instead of checking a file.
    #[arg(long, value_enum, conflicts_with_all = ["file", "config"])]
    print: Option<Document>,
}

/// What can be printed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Document {
    /// The default file, with every key explained.
    DefaultFile,
    /// The reference in Markdown.
    Reference,
}

/// Checks a file and prints what is in force, each value with the line that gives it.
///
/// # Errors
/// [`Failure::User`] with file, line, key, what was found and what is allowed.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    match args.print {
        Some(Document::DefaultFile) => print!("{}", describe::default_file()),
        Some(Document::Reference) => print!("{}", describe::reference()),
        None => {
            let file = args.config.as_ref().unwrap_or(&args.file);
            print!("{}", check(Memory::here(), &file.display().to_string(), &contents(file)?)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(memory: Option<Memory>, name: &str, bytes: &[u8]) -> Result<String, Failure> {
    let (_, table) = meshpace_settings::read(&name.into(), bytes)?;
    let root = read::settings(name, &table)?;
    let config: Config = read::read(&root, memory)?;
    let in_force = describe::in_force(&root, &config, memory)?;
    let mut out = format!("# {name}: no mistake found. In force:\n{in_force}");
    if config.mesh.interfaces.is_empty() && config.mesh.subnets.is_empty() {
        out.push_str(
            "\n# `meshpaced gateway` will refuse this file: no mesh.interfaces and no mesh.subnets.\n",
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_a_file_that_says_the_same() {
        let text = br#"
mode = "pace"
[mesh]
interfaces = ["mesh0"]
rate = "nl80211"
[hops.static]
"10.1.0.0/16" = 2
[gateway]
goodput_control = false
gap_held_max = 100
[[subnet]]
prefix = "10.1.2.0/24"
paced_share = 0.5
"#;
        let printed = check(None, "a.toml", text).unwrap();
        assert!(
            printed.contains("gap_held_max = 100                                       # line 10"),
            "{printed}"
        );
        assert!(
            printed.contains("gap_idle = 180.0                                         # default"),
            "{printed}"
        );
        assert!(printed.contains("\"10.1.0.0/16\" = 2 "), "{printed}");
        let again = Config::parse("b.toml", printed.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(again, Config::parse("a.toml", text).unwrap());
        assert!(!printed.contains("refuse"));
        assert!(check(None, "a.toml", b"").unwrap().contains("refuse"));
    }

    /// A router with 128 MiB: a sixteenth of the limits, unless the file says otherwise.
    #[test]
    fn limits_follow_the_memory_and_say_so() {
        let memory = Some(Memory::of(meshpace_units::Bytes(128 << 20)));
        let printed = check(memory, "a.toml", b"[gateway]\ngap_flows_max = 9000\n").unwrap();
        let has = |assignment: &str, origin: &str| {
            let line = printed.lines().find(|line| line.starts_with(&format!("{assignment} ")));
            let line = line.unwrap_or_else(|| panic!("{assignment} is not in\n{printed}"));
            assert!(line.ends_with(&format!("# {origin}")), "{line}");
        };
        has("gap_buffer_total = 16777216", "default with 128 MiB of memory");
        has("gap_held_max = 1024", "default with 128 MiB of memory");
        has("gap_segments_total = 65536", "default with 128 MiB of memory");
        has("gap_flows_max = 9000", "line 2");
        has("length = 2048", "default");
        let again = Config::parse("b.toml", printed.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(again, Config::parse_for(memory, "a.toml", b"[gateway]\ngap_flows_max = 9000\n").unwrap());
    }
}
