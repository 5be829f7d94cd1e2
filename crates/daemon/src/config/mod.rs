//! The daemon's configuration: one TOML file, checked once, then plain data.
//!
//! [`Config::load`] reads a file; what is wrong with it becomes one message that names file, line, key, what was found and
//! what is allowed. Every key is declared once, in `keys` (or, for the rate law and the gateway, in the table of scheme
//! parameters); checker, `meshpaced check`, the commented default file and docs/meshpaced-config.md are made of that.

mod command;
mod describe;
mod keys;
mod memory;
mod model;
mod parameters;
mod read;

pub use command::{Args, run};
pub(crate) use describe::commented_file;
pub use memory::Memory;
pub use model::*;

use crate::Failure;
use meshpace_settings::FileError;
use std::path::Path;

/// The file that commands read unless `--config` names another.
pub const DEFAULT_FILE: &str = "/etc/meshpaced.toml";

/// The control socket that commands use unless `--socket` names another: the default of the key
/// `control.socket`.
pub const DEFAULT_SOCKET: &str = "/run/meshpaced/control.sock";

impl Config {
    /// Reads the configuration from the bytes of a file called `name`, for a machine with plenty of memory.
    ///
    /// # Errors
    /// If the text is not TOML, has a key that does not exist, or a value that is not allowed.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, FileError> {
        Self::parse_for(None, name, bytes)
    }

    /// As [`Config::parse`], for a machine with so much memory.
    ///
    /// # Errors
    /// As [`Config::parse`].
    pub fn parse_for(memory: Option<Memory>, name: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let (_, table) = meshpace_settings::read(&name.into(), bytes)?;
        read::read(&read::settings(name, &table)?, memory)
    }

    /// Reads a file for this machine.
    ///
    /// # Errors
    /// [`Failure::User`] if it cannot be read, or as [`Config::parse`].
    pub fn load(file: &Path) -> Result<Self, Failure> {
        Ok(Self::parse_for(Memory::here(), &file.display().to_string(), &contents(file)?)?)
    }

    /// Reads a file for a gateway, which must know what is mesh.
    ///
    /// # Errors
    /// As [`Config::load`], and if there is neither a mesh interface nor a mesh subnet.
    pub fn load_for_gateway(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let (_, table) = meshpace_settings::read(&name.as_str().into(), &contents(file)?)?;
        let root = read::settings(&name, &table)?;
        let config = read::read(&root, Memory::here())?;
        if config.mesh.interfaces.is_empty() && config.mesh.subnets.is_empty() {
            return Err(read::nothing_is_mesh(&root).into());
        }
        Ok(config)
    }
}

impl Default for Config {
    /// What an empty file says.
    fn default() -> Self {
        Self::parse("", b"")
            .unwrap_or_else(|error| panic!("the defaults do not pass their own check: {error}"))
    }
}

fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::NotFound => "; `meshpaced init` makes one",
            _ => "",
        };
        Failure::User(format!("{}: {error}{advice}", file.display()))
    })
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::User(error.to_string())
    }
}

#[cfg(test)]
mod tests;
