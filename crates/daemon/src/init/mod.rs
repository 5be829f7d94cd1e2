//! `meshpaced init`: a first configuration file, made of what is found on this machine.

pub(crate) mod find;

use crate::Failure;
use crate::config::{DEFAULT_FILE, commented_file};
use find::{Evidence, Found};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `meshpaced init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write; one that exists is left as it is.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    config: PathBuf,
    /// An interface toward the mesh, instead of those that are found; may be given several times.
    #[arg(long, value_name = "NAME")]
    interface: Vec<String>,
    /// The links' MAC data rate, such as 54Mbps: needed where no 802.11 driver tells it. A wrong one makes wrong paces.
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Print the file instead of writing it.
    #[arg(long, conflicts_with = "config")]
    print: bool,
}

/// Writes a commented configuration file that names the mesh's interfaces.
///
/// # Errors
/// [`Failure::User`] if no mesh is found, or the file exists; [`Failure::Operational`] if it cannot be written.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let found = if args.interface.is_empty() { search()? } else { told(&args.interface)? };
    if !args.print && args.config.exists() {
        return Err(exists(&args.config));
    }
    let text = file(&found, args.rate.as_deref())?;
    if args.print {
        crate::text::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    write(&args.config, &text)?;
    let (file, found, next) = (args.config.display(), listed(&found), next(&args.config));
    crate::text::print(&format!("{file} written for {found}; it only watches at first. Next: {next}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// What `mesh.rate` and `mesh.fallback_rate` are to be: as told, else the driver's; nothing is made up.
fn rates(found: &[Found], told: Option<&str>) -> Result<Vec<(&'static str, String)>, Failure> {
    let asks = found.iter().any(|found| found.evidence.has_bitrates());
    let silent: Vec<_> = found
        .iter()
        .filter(|found| !found.evidence.has_bitrates())
        .map(|found| found.name.as_str())
        .collect();
    let quoted = |rate: &str| format!("{rate:?}");
    match (asks, told) {
        (true, None) if silent.is_empty() => Ok(vec![("mesh.rate", "\"nl80211\"".to_owned())]),
        (true, Some(rate)) => {
            Ok(vec![("mesh.rate", "\"nl80211\"".to_owned()), ("mesh.fallback_rate", quoted(rate))])
        }
        (false, Some(rate)) if rate != "nl80211" => Ok(vec![("mesh.rate", quoted(rate))]),
        _ => Err(Failure::User(format!(
            "--rate: no 802.11 driver tells the rate of the links behind {}, and a wrong one makes wrong paces; allowed: their MAC data rate, \
             such as --rate 54Mbps (on wires and through radios that look like wires, what one link carries)",
            silent.join(", ")
        ))),
    }
}

/// What to do with that file: the service reads the usual one only.
fn next(file: &Path) -> String {
    if file == Path::new(DEFAULT_FILE) {
        return "meshpaced doctor, then systemctl enable --now meshpaced".to_owned();
    }
    let file = file.display();
    format!("meshpaced doctor --config {file}, then meshpaced gateway --config {file}")
}

fn told(names: &[String]) -> Result<Vec<Found>, Failure> {
    if let Some(name) = names.iter().find(|name| is_loopback(name)) {
        let message =
            format!("--interface: found {name:?}, the loopback interface; allowed: one toward the mesh");
        return Err(Failure::User(message));
    }
    let wireless = find::wireless();
    let found = |name: &String| {
        let evidence = Evidence::Told { wireless: wireless.contains(name) };
        match bridge_of(name) {
            None => Found { name: name.clone(), evidence, port: None },
            Some(bridge) => Found { name: bridge, evidence, port: Some(name.clone()) },
        }
    };
    Ok(names.iter().map(found).collect())
}

/// The bridge that an interface is a port of.
fn bridge_of(name: &str) -> Option<String> {
    let interfaces = Path::new("/sys/class/net");
    let master = std::fs::read_link(interfaces.join(name).join("master")).ok()?;
    let bridge = master.file_name()?.to_str()?;
    interfaces.join(bridge).join("bridge").exists().then(|| bridge.to_owned())
}

/// True of an interface that leads back to this machine (ARPHRD_LOOPBACK of linux/if_arp.h).
fn is_loopback(name: &str) -> bool {
    let kind = std::fs::read_to_string(Path::new("/sys/class/net").join(name).join("type"));
    kind.is_ok_and(|kind| kind.trim() == "772")
}

/// What is found; an error that names the interfaces there are if nothing is.
fn search() -> Result<Vec<Found>, Failure> {
    let machine = find::look()?;
    let found = machine.mesh();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = match machine.names() {
        names if names.is_empty() => "none".to_owned(),
        names => names.join(", "),
    };
    Err(Failure::User(format!(
        "no mesh found: no 802.11s or ad hoc interface, no batman-adv, no Babel route; interfaces here: {names}. Name the \
         one toward the mesh: meshpaced init --interface NAME"
    )))
}

/// `mesh0 (802.11s mesh point), bat0 (batman-adv)`.
fn listed(found: &[Found]) -> String {
    let words = found.iter().map(|Found { name, evidence, port }| match port {
        None => format!("{name} ({})", evidence.words()),
        Some(port) => format!("{name} (the bridge of {port}, {})", evidence.words()),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The default file with the mesh's interfaces filled in.
fn file(found: &[Found], rate: Option<&str>) -> Result<String, Failure> {
    let names: Vec<_> = found.iter().map(|found| format!("\"{}\"", found.name)).collect();
    let mut values = vec![("mesh.interfaces", format!("[{}]", names.join(", ")))];
    values.extend(rates(found, rate)?);
    // Once anything is paced, hosts share what the mesh carries: no host starves beside another, whatever its flows are.
    values.push(("hosts.rate", "\"auto\"".to_owned()));
    let mut head = format!("Made by `meshpaced init`. Toward the mesh: {}.", listed(found));
    if found.iter().any(|found| found.evidence == Evidence::Batman) {
        head.push_str(" batman-adv forwards below IP and tells no hops: write them in [hops.static].");
    }
    if found.iter().any(|found| found.port.is_some()) {
        head.push_str(
            " To the firewall all ports of a bridge are one: hosts on its wires count as the mesh's, unless a [[subnet]] with mode = \"off\" has \
             them.",
        );
    }
    let text = commented_file(&head, &values);
    crate::config::Config::parse("--interface, --rate", text.as_bytes())?;
    Ok(text)
}

fn exists(path: &Path) -> Failure {
    Failure::User(format!(
        "{} exists and stays as it is: `meshpaced check` tells what it says, --config names another, --print prints",
        path.display()
    ))
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => exists(path),
        ErrorKind::PermissionDenied => Failure::Operational(format!(
            "{}: {why}: run this as root, or with --print or --config",
            path.display()
        )),
        _ => Failure::operational(path.display(), why),
    })?;
    file.write_all(text.as_bytes()).map_err(|why| Failure::operational(path.display(), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, RateSource};

    fn mesh(name: &str, evidence: Evidence) -> Found {
        Found { name: name.to_owned(), evidence, port: None }
    }

    #[test]
    fn what_comes_next_is_about_the_file_that_was_written() {
        assert!(next(Path::new(DEFAULT_FILE)).contains("systemctl enable --now meshpaced"));
        let other = next(Path::new("/tmp/a.toml"));
        assert!(other.contains("gateway --config /tmp/a.toml") && !other.contains("systemctl"), "{other}");
    }

    #[test]
    fn the_file_names_what_was_found_and_explains_every_key() {
        let found = [mesh("mesh0", Evidence::MeshPoint), mesh("bat0", Evidence::Batman)];
        let refused = file(&found, None).unwrap_err();
        assert!(
            matches!(&refused, Failure::User(said) if said.contains("the links behind bat0, and")),
            "{refused}"
        );
        let text = file(&found, Some("24Mbps")).unwrap();
        let first = text.lines().take_while(|line| line.starts_with('#')).collect::<Vec<_>>().join(" ");
        assert!(first.contains("mesh0 (802.11s mesh point), bat0 (batman-adv)"), "{first}");
        assert!(first.contains("[hops.static]"), "{first}");
        assert!(text.contains("#gap_idle = "), "every key is there: {text}");
        let config = Config::parse("a.toml", text.as_bytes()).unwrap();
        assert_eq!(config.mesh.interfaces, ["mesh0", "bat0"]);
        assert_eq!(config.mesh.rate_source, RateSource::Nl80211);
        assert_eq!(config.mesh.rate.as_bits_per_sec(), 24_000_000);
        let wired = [mesh("br0", Evidence::Told { wireless: false })];
        assert!(file(&wired, None).is_err(), "11 Mbit/s is nobody's guess");
        let refused = file(&wired, Some("nl80211")).unwrap_err();
        assert!(matches!(&refused, Failure::User(said) if said.contains("no 802.11 driver")), "{refused}");
        let bad = file(&wired, Some("fast")).unwrap_err();
        assert!(matches!(&bad, Failure::User(said) if said.contains("mesh.rate")), "{bad}");
        let wired = Config::parse("a.toml", file(&wired, Some("300Mbps")).unwrap().as_bytes()).unwrap();
        let only = "[mesh]\ninterfaces = [\"br0\"]\nrate = \"300Mbps\"\n[hosts]\nrate = \"auto\"\n";
        assert_eq!(wired, Config::parse("b.toml", only.as_bytes()).unwrap(), "nothing else is changed");
        let told = file(&[mesh("wlan0", Evidence::Told { wireless: true })], None).unwrap();
        assert_eq!(Config::parse("a.toml", told.as_bytes()).unwrap().mesh.rate_source, RateSource::Nl80211);
    }

    #[test]
    fn a_name_that_is_none_is_refused_and_a_file_that_exists_is_kept() {
        let refused = told(&["mesh0".to_owned(), "lo".to_owned()]).unwrap_err();
        assert!(
            matches!(&refused, Failure::User(said) if said.contains("\"lo\", the loopback")),
            "{refused}"
        );
        let refused = file(&told(&["a b".to_owned()]).unwrap(), Some("1Mbps")).unwrap_err();
        assert!(matches!(&refused, Failure::User(said) if said.contains("mesh.interfaces")), "{refused}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meshpaced.toml");
        write(&path, "one").unwrap();
        let refused = write(&path, "two").unwrap_err();
        assert!(matches!(&refused, Failure::User(said) if said.contains("stays as it is")), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        let nowhere = write(&folder.path().join("none/m.toml"), "x").unwrap_err();
        assert!(matches!(nowhere, Failure::Operational(_)), "{nowhere}");
    }
}
