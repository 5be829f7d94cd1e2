//! The engine's fingerprint: a short digest of everything in the sources that can change a result.
//!
//! A stored result is as good as new only while the engine that made it is the engine that runs. A version number does
//! not say so, since nobody raises it at every edit; the bytes of the sources say too much, since a comment would cost
//! hours of runs. So the digest is taken over **tokens**: of the library of every workspace crate that is linked into the
//! Python extension, followed from `lib.rs` through its modules, without comments, documentation, tests (`#[cfg(test)]`,
//! `#[test]`) and what formatting is free to choose (trailing commas, braces around one expression). Where a module's
//! file lies does not matter. To the tokens come what a manifest says of dependencies, features and edition, and
//! `Cargo.lock`.
//!
//! [`of_tree`] needs a tree of sources and no build, so that it is also told whether an edit made a new engine:
//! `cargo run -p meshpace-fingerprint -- DIRECTORY`.

mod manifest;
mod modules;
mod prune;
mod tokens;

use manifest::Workspace;
use modules::Reader;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The crate that is the Python extension; what it depends on is the engine.
const EXTENSION: &str = "crates/python";
/// Length of a fingerprint: 64 bits of the digest, plenty for the engines that one store will ever see.
const BYTES: usize = 8;

/// Why a tree has no fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
}

/// A tree's fingerprint, and the files that it was taken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// 16 hexadecimal digits.
    pub hex: String,
    /// Every file that was read: if one of them changes, take it again.
    pub sources: BTreeSet<PathBuf>,
}

/// The fingerprint of the engine whose sources lie in `root`.
///
/// # Errors
/// If a file is missing or cannot be understood.
pub fn of_tree(root: &Path) -> Result<Fingerprint, Error> {
    let mut reader = Reader::default();
    let workspace = Workspace::read(root, &mut reader)?;
    let mut hash = Sha256::new();
    for member in workspace.linked(EXTENSION, &mut reader)? {
        member.digest(&mut |part: &[u8]| hash.update(part));
        for root in member.roots() {
            let tokens = reader.crate_tokens(&root)?;
            tokens::write(tokens, &mut |part: &[u8]| hash.update(part));
        }
    }
    let lock = reader.text(&root.join("Cargo.lock"))?;
    for line in lock.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        hash.update(line.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    let hex = digest[..BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Fingerprint { hex, sources: reader.files })
}
