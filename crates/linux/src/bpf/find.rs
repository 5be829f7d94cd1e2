//! Maps and programs that were made before, by name: nothing needs to be pinned anywhere.

use super::attributes::{self, Attributes, call};
use super::{Map, kind};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Room for `struct bpf_map_info` and `struct bpf_prog_info`, as far as it is read.
const INFO: usize = 80;
const PROGRAM_NAME: usize = 64;
const MAP_NAME: usize = 24;
/// Programs on a control group that are looked at.
const MOST: usize = 64;

/// The map of this name and kind that was made last, if there is one.
///
/// # Errors
/// What bpf(2) answers: it takes CAP_SYS_ADMIN.
pub fn map_named(name: &str, wanted: u32) -> io::Result<Option<Map>> {
    let (mut id, mut found) = (0, None);
    loop {
        let mut attributes = Attributes::new();
        attributes.number(0, id);
        match call(attributes::MAP_GET_NEXT_ID, &mut attributes) {
            Ok(_) => id = attributes.read(4),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
        }
        // It may have gone meanwhile.
        let Ok(descriptor) = open(attributes::MAP_GET_FD_BY_ID, id) else { continue };
        let info = info(descriptor.as_fd())?;
        let number = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().expect("four bytes"));
        if number(0) == wanted && name_at(&info, MAP_NAME) == name {
            found = Some(Map { descriptor, key: number(8) as usize, value: number(12) as usize });
        }
    }
}

/// The programs of this name on a control group.
///
/// # Errors
/// What bpf(2) answers: it takes CAP_SYS_ADMIN.
pub fn programs_on(group: BorrowedFd<'_>, name: &str) -> io::Result<Vec<OwnedFd>> {
    let mut ids = vec![0; 4 * MOST];
    let mut attributes = Attributes::new();
    attributes.descriptor(0, group);
    attributes.number(4, kind::CGROUP_SOCK_OPS);
    attributes.room(16, &mut ids);
    attributes.number(24, MOST as u32);
    call(attributes::PROG_QUERY, &mut attributes)?;
    let count = attributes.read(24) as usize;
    let mut found = Vec::new();
    for id in ids.chunks_exact(4).take(count) {
        let id = u32::from_ne_bytes(id.try_into().expect("four bytes"));
        let program = open(attributes::PROG_GET_FD_BY_ID, id)?;
        if name_at(&info(program.as_fd())?, PROGRAM_NAME) == name {
            found.push(program);
        }
    }
    Ok(found)
}

fn open(command: u32, id: u32) -> io::Result<OwnedFd> {
    let mut attributes = Attributes::new();
    attributes.number(0, id);
    Ok(call(command, &mut attributes)?.descriptor())
}

fn info(of: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut info = vec![0; INFO];
    let mut attributes = Attributes::new();
    attributes.descriptor(0, of);
    attributes.number(4, INFO as u32);
    attributes.room(8, &mut info);
    call(attributes::OBJ_GET_INFO_BY_FD, &mut attributes)?;
    Ok(info)
}

fn name_at(info: &[u8], at: usize) -> &str {
    let name = &info[at..at + 16];
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    std::str::from_utf8(&name[..end]).unwrap_or_default()
}
