//! Control groups of version 2: where they are mounted, and one program a group.

use crate::Failure;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A control group whose sockets this process paces. No other process can open it so at the same time.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    inode: u64,
    directory: Flock<File>,
}

impl Cgroup {
    /// Opens the control group at `path`, or the root of the hierarchy.
    ///
    /// # Errors
    /// [`Failure::User`] if there is no version 2 control group, [`Failure::Operational`] if another meshpaced has it.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let (path, directory) = Self::directory_of(path)?;
        let fail = |why: &dyn std::fmt::Display| Failure::operational(path.display(), why);
        let inode = directory.metadata().map_err(|why| fail(&why))?.ino();
        let directory = Flock::lock(directory, FlockArg::LockExclusiveNonblock).map_err(|_| {
            fail(&"another process has locked this control group: is `meshpaced host` running?")
        })?;
        Ok(Self { path, inode, directory })
    }

    /// The directory of the control group at `path`, or of the root of the hierarchy, which others may have open too.
    ///
    /// # Errors
    /// [`Failure::User`] if there is no version 2 control group.
    pub fn directory_of(path: Option<&Path>) -> Result<(PathBuf, File), Failure> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => root()?,
        };
        // The file is in every control group of version 2 and in none of version 1 (cgroups(7)).
        if !path.join("cgroup.controllers").exists() {
            return Err(Failure::User(format!(
                "{}: not a control group of version 2; allowed: a directory below a mounted cgroup2 file system",
                path.display()
            )));
        }
        let directory = File::open(&path).map_err(|why| Failure::operational(path.display(), why))?;
        Ok((path, directory))
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory, open.
    #[must_use]
    pub fn directory(&self) -> &File {
        &self.directory
    }

    /// A number that no other control group has while this one exists.
    #[must_use]
    pub const fn inode(&self) -> u64 {
        self.inode
    }
}

fn root() -> Result<PathBuf, Failure> {
    let mounts =
        std::fs::read_to_string("/proc/mounts").map_err(|why| Failure::operational("/proc/mounts", why))?;
    find_root(&mounts).ok_or_else(|| {
        Failure::User(
            "no control groups of version 2 are mounted here: mount -t cgroup2 cgroup2 DIRECTORY, or name a mounted \
             one with --cgroup (`ip netns exec` hides them: enter the namespace with nsenter --net instead)"
                .to_owned(),
        )
    })
}

/// Where the version 2 hierarchy is mounted: /sys/fs/cgroup, or beside version 1 mostly /sys/fs/cgroup/unified.
fn find_root(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, directory, kind) = (fields.next()?, fields.next()?, fields.next()?);
        // Blanks in paths are written as octal escapes (proc_mounts(5)); a hierarchy mounted there is not looked for.
        (kind == "cgroup2" && !directory.contains('\\')).then(|| PathBuf::from(directory))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_alone_and_beside_version_1() {
        let alone = "sysfs /sys sysfs rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        assert_eq!(find_root(alone), Some("/sys/fs/cgroup".into()));
        let mixed =
            "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(find_root(mixed), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(find_root("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"), None);
        assert_eq!(find_root("broken\n"), None);
    }

    #[test]
    fn an_ordinary_directory_is_refused() {
        let Err(Failure::User(message)) = Cgroup::open(Some(Path::new("/usr"))) else {
            panic!("/usr is no control group");
        };
        assert!(message.contains("/usr: not a control group of version 2"), "{message}");
    }
}
