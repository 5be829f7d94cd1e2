//! Where the lines go: standard output, or files of bounded size of which a bounded number is kept.

use crate::config::Events;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// See the module's description.
#[derive(Debug)]
pub(super) enum Target {
    File(Rotated),
    Stdout,
}

/// `path`, and what it had before as `path.1` (the latest) to `path.KEEP`, as logrotate(8) names them.
#[derive(Debug)]
pub(super) struct Rotated {
    path: PathBuf,
    file: File,
    /// No file gets longer, unless a single line is.
    limit: u64,
    keep: u32,
}

impl Target {
    /// Opens what the configuration names; `None` if it wants no log.
    pub fn open(config: &Events) -> io::Result<Option<Self>> {
        let Some(path) = &config.file else { return Ok(None) };
        if path == Path::new("-") {
            return Ok(Some(Self::Stdout));
        }
        let (file, path) = (append(path)?, path.clone());
        Ok(Some(Self::File(Rotated { path, file, limit: config.max_size.0, keep: config.keep })))
    }

    /// Opens the file anew, after it was renamed.
    pub fn reopen(&mut self) -> io::Result<()> {
        if let Self::File(rotated) = self {
            rotated.file = append(&rotated.path)?;
        }
        Ok(())
    }

    /// Writes a line. Where the file would get too long and cannot be put away, nothing is written: a full disk is worse.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::File(rotated) => rotated.write(line),
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(line)?;
                out.flush()
            }
        }
    }
}

impl Rotated {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        // Asked each time: the file may have been cut.
        let length = self.file.metadata()?.len();
        if length > 0 && length + line.len() as u64 > self.limit {
            self.rotate()?;
        }
        // On a full disk a part of the line may be there: the next one would go on in it.
        self.file.write_all(line).inspect_err(|_| drop(self.file.set_len(length)))
    }

    fn rotate(&mut self) -> io::Result<()> {
        let numbered = |n: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{n}"));
            PathBuf::from(name)
        };
        if self.keep == 0 {
            return self.file.set_len(0);
        }
        for n in (1..self.keep).rev() {
            match std::fs::rename(numbered(n), numbered(n + 1)) {
                Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
                _ => {}
            }
        }
        std::fs::rename(&self.path, numbered(1))?;
        self.file = append(&self.path)?;
        Ok(())
    }
}

/// Addresses of the network's users are in it: other users cannot read it.
fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o640).open(path)
}
