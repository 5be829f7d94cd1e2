//! `meshpaced undo`: everything that a daemon may have left behind, gone with one command, whether the daemon lives or not.

use crate::config::{Config, DEFAULT_FILE};
use crate::rules::{self, Owner};
use crate::{Failure, edge};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `meshpaced undo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file, for the names of interfaces and of the control socket; without it, or if it cannot be
    /// used, the defaults.
    #[arg(long, default_value = DEFAULT_FILE)]
    config: PathBuf,
}

/// Removes what is left of one part of the daemon and says what it was.
type Undo = fn(&Config) -> Result<Vec<String>, Failure>;

/// Everything that may be left behind.
const PARTS: &[Undo] = &[
    |config| rules::remove(Owner::Gateway, &rules::lock_of(config)),
    |config| edge::undo(&config.edge),
    #[cfg(feature = "ebpf")]
    |config| {
        let removed =
            config.mesh.interfaces.iter().map(|name| crate::ebpf::undo(name)).collect::<Result<Vec<_>, _>>();
        removed.map(|lists| lists.concat())
    },
    |config| remove_socket(&config.control.socket),
];

/// Removes firewall rules, leftovers of the eBPF data path, and the control socket of a dead daemon; says what it removed.
///
/// # Errors
/// [`Failure::Operational`] if something is there and cannot be removed; everything else is removed nevertheless.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    crate::rights::Rights::here().require_net_admin("undo")?;
    let config = Config::load(&args.config).unwrap_or_else(|failure| {
        if args.config.exists() {
            eprintln!("meshpaced: {failure}; going by the defaults");
        }
        Config::default()
    });
    let mut failures = Vec::new();
    let mut count = 0;
    for part in PARTS {
        match part(&config) {
            Ok(removed) => {
                count += removed.len();
                removed.iter().for_each(|what| println!("removed {what}"));
            }
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    if count == 0 && failures.is_empty() {
        println!("nothing to remove");
    }
    if failures.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Failure::Operational(failures.join("; "))) }
}

/// Removes the socket file that a daemon left when it was killed.
fn remove_socket(socket: &Path) -> Result<Vec<String>, Failure> {
    if UnixStream::connect(socket).is_ok() {
        println!(
            "a daemon still runs, listens on {}, and makes its rules again within 10 s: stop it first (systemctl disable --now \
             meshpaced, or meshpaced stop), then undo",
            socket.display()
        );
        return Ok(Vec::new());
    }
    match fs::remove_file(socket) {
        Ok(()) => Ok(vec![format!("the control socket {}", socket.display())]),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(Failure::operational(socket.display(), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example::wait_until_closed;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_dead_daemons_socket_is_removed() {
        let socket = std::env::temp_dir().join(format!("meshpaced-undo-{}.sock", std::process::id()));
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(remove_socket(&socket).unwrap(), Vec::<String>::new());
        assert!(socket.exists());
        drop(listener);
        wait_until_closed(|| UnixStream::connect(&socket));
        assert_eq!(remove_socket(&socket).unwrap().len(), 1);
        assert!(!socket.exists());
        assert_eq!(remove_socket(&socket).unwrap(), Vec::<String>::new());
    }
}
