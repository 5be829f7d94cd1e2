//! Outcomes of forecasts, kept in a file while no daemon runs.

use super::Outcome;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Version of the file.
const SCHEMA: u32 = 1;
/// systemd's variable for `StateDirectory=` (systemd.exec(5)): folders, divided by colons.
const VARIABLE: &str = "STATE_DIRECTORY";

#[derive(Debug, Serialize, Deserialize)]
struct File {
    schema: u32,
    compared: Vec<Outcome>,
}

/// The file.
#[derive(Clone, Debug)]
pub struct Kept(PathBuf);

impl Kept {
    /// In the folder that the service manager gives; `None` if it gives none: then outcomes live as long as the daemon.
    #[must_use]
    pub fn here() -> Option<Self> {
        let folders = env::var_os(VARIABLE)?;
        let first = env::split_paths(&folders).next().filter(|folder| !folder.as_os_str().is_empty())?;
        Some(Self::within(&first))
    }

    /// In this folder.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self(folder.join("forecasts.json"))
    }

    /// What was kept; nothing if there is no file yet.
    ///
    /// # Errors
    /// What keeps it from being read, or that it is none of ours.
    pub fn read(&self) -> io::Result<Vec<Outcome>> {
        let text = match fs::read(&self.0) {
            Ok(text) => text,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(self.named(&why)),
        };
        outcomes(&text).map_err(|why| self.named(&why))
    }

    /// Keeps these in place of what was kept, whole or not at all.
    ///
    /// # Errors
    /// What keeps it from being written.
    pub fn write(&self, compared: Vec<Outcome>) -> io::Result<()> {
        let text = serde_json::to_vec(&File { schema: SCHEMA, compared })?;
        let beside = self.0.with_extension("new");
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &self.0));
        written.map_err(|why| self.named(&why))
    }

    fn named(&self, why: &io::Error) -> io::Error {
        io::Error::new(why.kind(), format!("{}: {why}", self.0.display()))
    }
}
/// The outcomes in such a file.
pub(crate) fn outcomes(text: &[u8]) -> io::Result<Vec<Outcome>> {
    let file: File = serde_json::from_slice(text)?;
    let usable = |outcome: &Outcome| {
        outcome.foretold_bps.is_finite()
            && outcome.foretold_bps > 0.0
            && outcome.measured_bps.is_finite()
            && outcome.measured_bps >= 0.0
    };
    if file.schema != SCHEMA || !file.compared.iter().all(usable) {
        let what = format!("not outcomes of forecasts of schema {SCHEMA}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(file.compared)
}
