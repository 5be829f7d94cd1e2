//! Network namespaces: opening a descriptor in another one.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Where `ip netns add` binds the namespaces that it names (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// A handle on a network namespace; keeps it alive.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    path: PathBuf,
}

impl Namespace {
    /// The namespace that the calling thread is in.
    ///
    /// # Errors
    /// Without `/proc`.
    pub fn current() -> io::Result<Self> {
        Self::open("/proc/thread-self/ns/net")
    }

    /// A namespace by the name that `ip netns` knows, or by path where the name has a slash in it
    /// (`/proc/PID/ns/net`).
    ///
    /// # Errors
    /// If there is none; the path that was tried is in the message.
    pub fn named(name: &str) -> io::Result<Self> {
        if name.contains('/') { Self::open(name) } else { Self::open(Path::new(NAMED).join(name)) }
    }

    fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        match File::open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err(with_context(&error, &format!("network namespace {}", path.display()))),
        }
    }

    /// Runs `open` with the calling thread in this namespace and returns the thread to where it was. What `open` opens
    /// stays in this namespace: sockets, TUN devices, files under `/proc/thread-self/net`. (`/sys` does not follow.)
    ///
    /// # Errors
    /// Those of `open`, or that the namespace cannot be entered: it takes CAP_SYS_ADMIN.
    ///
    /// # Panics
    /// If the thread cannot be returned: it would go on in the wrong network.
    pub fn within<T>(&self, open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        /// Returns the thread even if `open` panics.
        struct Return(Namespace);
        impl Drop for Return {
            fn drop(&mut self) {
                if let Err(error) = setns(&self.0.file, CloneFlags::CLONE_NEWNET) {
                    panic!("the thread cannot leave a network namespace: {error}");
                }
            }
        }
        let home = Return(Self::current()?);
        setns(&self.file, CloneFlags::CLONE_NEWNET)
            .map_err(|error| with_context(&error.into(), &format!("entering {}", self.path.display())))?;
        let result = open();
        drop(home);
        result
    }
}

/// `error` of the same kind, with what was attempted before it.
pub(crate) fn with_context(error: &io::Error, attempt: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_namespace_is_named() {
        let error = Namespace::named("mp-none-such").expect_err("there is none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/run/netns/mp-none-such"), "{error}");
    }
}
