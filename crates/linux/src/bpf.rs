//! bpf(2), as far as a congestion control takes it: maps, programs, what they are attached to, and finding them again.
//!
//! Attributes are written by offset into `union bpf_attr` (include/uapi/linux/bpf.h), whose fields stay where they are.

mod attributes;
mod find;

pub use find::{map_named, programs_on};

use attributes::{Attributes, call};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Kinds of maps, programs and attachments that are used here (`enum bpf_map_type`, `bpf_prog_type`, `bpf_attach_type`).
pub mod kind {
    /// A map of numbered entries.
    pub const ARRAY: u32 = 2;
    /// A map of prefixes; the longest one that fits is found.
    pub const LPM_TRIE: u32 = 11;
    /// A map whose one entry is a kernel structure made of programs.
    pub const STRUCT_OPS_MAP: u32 = 26;
    /// A program on the sockets of a control group.
    pub const SOCK_OPS: u32 = 13;
    /// A program on a place of the kernel, here an iterator.
    pub const TRACING: u32 = 26;
    /// A member of a kernel structure.
    pub const STRUCT_OPS: u32 = 27;
    /// Attached to a control group's sockets.
    pub const CGROUP_SOCK_OPS: u32 = 3;
    /// Attached to nothing but reads of its own file.
    pub const TRACE_ITER: u32 = 28;
}

/// Several programs may be on a control group (`BPF_F_ALLOW_MULTI`).
const ALLOW_MULTI: u32 = 2;
/// What is read of a checker's answer.
const LOG: usize = 1 << 16;

/// A map to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewMap<'a> {
    /// Its kind.
    pub kind: u32,
    /// Bytes of a key.
    pub key: u32,
    /// Bytes of a value.
    pub value: u32,
    /// Entries at most.
    pub entries: u32,
    /// Its flags.
    pub flags: u32,
    /// Its name, of 15 bytes at most.
    pub name: &'a str,
    /// The kernel's type of its value by its number in the kernel's own BTF, and the types of its maker, loaded.
    pub value_type: Option<(u32, BorrowedFd<'a>)>,
}

/// A map. It lasts as long as a process has it open or a program uses it.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    key: usize,
    value: usize,
}

impl Map {
    /// Makes one.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn new(new: &NewMap<'_>) -> io::Result<Self> {
        let mut attributes = Attributes::new();
        let numbers = [new.kind, new.key, new.value, new.entries, new.flags];
        for (at, number) in (0..).step_by(4).zip(numbers) {
            attributes.number(at, number);
        }
        attributes.name(28, new.name);
        if let Some((value_type, types)) = new.value_type {
            attributes.descriptor(48, types);
            attributes.number(60, value_type);
        }
        let descriptor = call(attributes::MAP_CREATE, &mut attributes)?.descriptor();
        Ok(Self { descriptor, key: new.key as usize, value: new.value as usize })
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// What bpf(2) answers.
    ///
    /// # Panics
    /// If the key or the value is not as long as this map's.
    pub fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        assert_eq!((key.len(), value.len()), (self.key, self.value));
        let mut attributes = self.entry(key);
        attributes.bytes(16, value);
        call(attributes::MAP_UPDATE_ELEM, &mut attributes).map(drop)
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// What bpf(2) answers, [`io::ErrorKind::NotFound`] if there is none.
    ///
    /// # Panics
    /// If the key is not as long as this map's.
    pub fn get(&self, key: &[u8]) -> io::Result<Vec<u8>> {
        let mut attributes = self.entry(key);
        let mut value = vec![0; self.value];
        attributes.room(16, &mut value);
        call(attributes::MAP_LOOKUP_ELEM, &mut attributes)?;
        Ok(value)
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// What bpf(2) answers.
    ///
    /// # Panics
    /// If the key is not as long as this map's.
    pub fn remove(&self, key: &[u8]) -> io::Result<()> {
        call(attributes::MAP_DELETE_ELEM, &mut self.entry(key)).map(drop)
    }

    /// All keys. Those that come or go meanwhile may be missing.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn keys(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0; self.key];
            let mut attributes = Attributes::new();
            attributes.descriptor(0, self.as_fd());
            if let Some(latest) = keys.last() {
                attributes.bytes(8, latest);
            }
            attributes.room(16, &mut next);
            match call(attributes::MAP_GET_NEXT_KEY, &mut attributes) {
                Ok(_) => keys.push(next),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(keys),
                Err(error) => return Err(error),
            }
        }
    }

    fn entry(&self, key: &[u8]) -> Attributes {
        assert_eq!(key.len(), self.key);
        let mut attributes = Attributes::new();
        attributes.descriptor(0, self.as_fd());
        attributes.bytes(8, key);
        attributes
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A program to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct NewProgram<'a> {
    /// Its kind.
    pub kind: u32,
    /// How it is to be attached; of a structure's member its number.
    pub attach: u32,
    /// What it is to be attached to: a type or a function by its number in the kernel's BTF; 0: nothing.
    pub attach_to: u32,
    /// Its instructions (`struct bpf_insn`), whole.
    pub instructions: &'a [u8],
    /// Its name, of 15 bytes at most.
    pub name: &'a str,
    /// The types of its functions, loaded.
    pub types: BorrowedFd<'a>,
    /// Which functions begin where (`struct bpf_func_info`), so many bytes each.
    pub functions: (&'a [u8], u32),
}

/// Loads a program under the licences MIT and GPL.
///
/// # Errors
/// What bpf(2) answers, with the last that the kernel's checker said.
pub fn load_program(new: &NewProgram<'_>) -> io::Result<OwnedFd> {
    let mut attributes = Attributes::new();
    attributes.number(0, new.kind);
    attributes.number(4, (new.instructions.len() / 8) as u32);
    attributes.bytes(8, new.instructions);
    attributes.bytes(16, b"Dual MIT/GPL\0");
    attributes.name(48, new.name);
    attributes.number(68, new.attach);
    attributes.descriptor(72, new.types);
    let (functions, each) = new.functions;
    attributes.number(76, each);
    attributes.bytes(80, functions);
    attributes.number(88, functions.len() as u32 / each.max(1));
    attributes.number(108, new.attach_to);
    let refused = match call(attributes::PROG_LOAD, &mut attributes) {
        Ok(answer) => return Ok(answer.descriptor()),
        Err(error) => error,
    };
    // Once more, for the reason.
    let mut log = vec![0; LOG];
    attributes.number(24, 1);
    attributes.number(28, LOG as u32);
    attributes.room(32, &mut log);
    let again = call(attributes::PROG_LOAD, &mut attributes).map(|answer| drop(answer.descriptor()));
    let said = String::from_utf8_lossy(&log);
    let said: Vec<&str> = said.trim_end_matches('\0').trim().lines().rev().take(3).collect();
    let said: Vec<&str> = said.into_iter().rev().collect();
    drop(again);
    Err(io::Error::new(refused.kind(), format!("{}: {refused} {}", new.name, said.join("; "))))
}

/// Loads the types of programs (BTF).
///
/// # Errors
/// What bpf(2) answers.
pub fn load_types(types: &[u8]) -> io::Result<OwnedFd> {
    let mut attributes = Attributes::new();
    attributes.bytes(0, types);
    attributes.number(16, types.len() as u32);
    Ok(call(attributes::BTF_LOAD, &mut attributes)?.descriptor())
}

/// Puts a program on a control group, beside others that are there; it stays until it is taken off or the group is removed.
///
/// # Errors
/// What bpf(2) answers.
pub fn attach(program: BorrowedFd<'_>, group: BorrowedFd<'_>) -> io::Result<()> {
    let mut attributes = on_group(program, group);
    attributes.number(12, ALLOW_MULTI);
    call(attributes::PROG_ATTACH, &mut attributes).map(drop)
}

/// Takes it off.
///
/// # Errors
/// What bpf(2) answers.
pub fn detach(program: BorrowedFd<'_>, group: BorrowedFd<'_>) -> io::Result<()> {
    call(attributes::PROG_DETACH, &mut on_group(program, group)).map(drop)
}

fn on_group(program: BorrowedFd<'_>, group: BorrowedFd<'_>) -> Attributes {
    let mut attributes = Attributes::new();
    attributes.descriptor(0, group);
    attributes.descriptor(4, program);
    attributes.number(8, kind::CGROUP_SOCK_OPS);
    attributes
}

/// What an iterator says: reading it runs the program once for each socket of the calling thread's network namespace.
///
/// # Errors
/// What bpf(2) answers.
pub fn iterate(program: BorrowedFd<'_>) -> io::Result<File> {
    let mut attributes = Attributes::new();
    attributes.descriptor(0, program);
    attributes.number(8, kind::TRACE_ITER);
    let link = call(attributes::LINK_CREATE, &mut attributes)?.descriptor();
    let mut attributes = Attributes::new();
    attributes.descriptor(0, link.as_fd());
    Ok(call(attributes::ITER_CREATE, &mut attributes)?.descriptor().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the right to make maps nothing can be tried.
    fn map(name: &str, kind: u32, key: u32, flags: u32) -> Option<Map> {
        let new = NewMap { kind, key, value: 8, entries: 4, flags, name, value_type: None };
        match Map::new(&new) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            made => Some(made.expect("a map")),
        }
    }

    #[test]
    fn what_is_written_to_a_map_is_read_and_found_again() {
        // Tests of other processes run on the same kernel.
        let name = format!("mp_{}", std::process::id());
        let Some(map) = map(&name, kind::ARRAY, 4, 0) else { return };
        map.set(&[1, 0, 0, 0], b"12345678").expect("written");
        assert_eq!(map.get(&[1, 0, 0, 0]).expect("read"), b"12345678");
        assert_eq!(map.get(&[9, 0, 0, 0]).expect_err("none").kind(), io::ErrorKind::NotFound);
        assert_eq!(map.keys().expect("keys").len(), 4);
        let Ok(found) = map_named(&name, kind::ARRAY) else { return };
        assert_eq!(found.expect("found").get(&[1, 0, 0, 0]).expect("read"), b"12345678");
        assert!(map_named("mp_no_such_map", kind::ARRAY).expect("the right").is_none());
    }

    #[test]
    fn the_longest_prefix_is_found_and_removed() {
        // BPF_F_NO_PREALLOC
        let Some(map) = map("mp_prefixes", kind::LPM_TRIE, 8, 1) else { return };
        let prefix = |bits: u32, first: u8| [bits.to_ne_bytes(), [first, 0, 0, 0]].concat();
        map.set(&prefix(8, 10), &[8; 8]).expect("written");
        map.set(&prefix(16, 10), &[16; 8]).expect("written");
        assert_eq!(map.get(&prefix(32, 10)).expect("found"), [16; 8]);
        map.remove(&prefix(16, 10)).expect("removed");
        assert_eq!(map.get(&prefix(32, 10)).expect("found"), [8; 8]);
        assert_eq!(map.keys().expect("keys"), [prefix(8, 10)]);
    }

    #[test]
    fn what_is_no_program_is_refused_with_the_checkers_words() {
        let Some(map) = map("mp_types", kind::ARRAY, 4, 0) else { return };
        let new = NewProgram {
            kind: kind::SOCK_OPS,
            attach: kind::CGROUP_SOCK_OPS,
            attach_to: 0,
            instructions: &[0; 8],
            name: "nothing",
            types: map.as_fd(),
            functions: (&[], 8),
        };
        let error = load_program(&new).expect_err("no program");
        assert!(error.to_string().contains("nothing: "), "{error}");
    }
}
