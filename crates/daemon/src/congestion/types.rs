//! What the running kernel says of its own types (BTF, Documentation/bpf/btf.rst): where a structure's members are.

use crate::Failure;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Where the kernel says it.
const FILE: &str = "/sys/kernel/btf/vmlinux";
/// `BTF_MAGIC`, as it stands in a file of this machine's byte order.
const MAGIC: u16 = 0xeb9f;
/// Kinds (`include/uapi/linux/btf.h`).
const POINTER: u32 = 2;
/// A structure.
pub const STRUCT: u32 = 4;
/// A function.
pub const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;

/// `struct btf_header`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: u16,
    _version: u8,
    _flags: u8,
    /// Its length; what it says of places counts from there.
    length: u32,
    types: u32,
    types_length: u32,
    names: u32,
    _names_length: u32,
}

/// `struct btf_type`.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Type {
    name: u32,
    information: u32,
    /// The size of a structure, or the number of the type that a pointer leads to, or that a function has.
    more: u32,
}

/// `struct btf_member`.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Place {
    name: u32,
    kind: u32,
    /// Bits.
    offset: u32,
}

impl Type {
    const fn kind(self) -> u32 {
        self.information >> 24 & 0x1f
    }

    /// How many members or arguments.
    const fn count(self) -> u32 {
        self.information & 0xffff
    }

    /// How much stands behind it, bytes.
    const fn tail(self) -> usize {
        let count = self.count() as usize;
        match self.kind() {
            1 | 14 | 17 => 4,
            3 => 12,
            4 | 5 | 15 | 19 => 12 * count,
            6 | 13 => 8 * count,
            _ => 0,
        }
    }
}

/// What stands at a place; `None` if the bytes end before.
fn at<T: FromBytes + KnownLayout + Immutable>(bytes: &[u8], place: usize) -> Option<T> {
    Some(T::read_from_prefix(bytes.get(place..)?).ok()?.0)
}

/// The kernel's types.
#[derive(Debug)]
pub struct Types {
    bytes: Vec<u8>,
    /// Where each type is, by its number; they end before the bytes do.
    places: Vec<usize>,
    names: usize,
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub index: u32,
    /// Where it is, bytes.
    pub offset: usize,
    kind: u32,
}

impl Types {
    /// Those of the running kernel.
    ///
    /// # Errors
    /// [`Failure::Operational`] if it has none.
    pub fn of_this_kernel() -> Result<Self, Failure> {
        let bytes = std::fs::read(FILE).map_err(|why| {
            Failure::Operational(format!(
                "{FILE}: {why}: this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF), which a congestion control by eBPF is \
                 fitted to; OpenWrt's usual kernels do not. `meshpaced gateway` and `meshpaced host` need none of it"
            ))
        })?;
        Self::read(bytes)
            .ok_or_else(|| Failure::operational(FILE, "not BTF as include/uapi/linux/btf.h has it"))
    }

    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let header: Header = at(&bytes, 0).filter(|header: &Header| header.magic == MAGIC)?;
        let behind = |offset: u32| (header.length as usize).checked_add(offset as usize);
        let (mut place, names) = (behind(header.types)?, behind(header.names)?);
        let end = place.checked_add(header.types_length as usize)?;
        // Number 0 is `void`, which is not written down.
        let mut places = vec![place];
        while place < end {
            places.push(place);
            place += size_of::<Type>() + at::<Type>(&bytes, place)?.tail();
        }
        (place <= bytes.len()).then_some(Self { bytes, places, names })
    }

    fn get(&self, id: u32) -> Type {
        at(&self.bytes, self.places[id as usize]).expect("it was there when it was counted")
    }

    fn is_named(&self, name_at: u32, name: &str) -> bool {
        let text = self.names.checked_add(name_at as usize).and_then(|from| self.bytes.get(from..));
        text.is_some_and(|text| {
            text.starts_with(name.as_bytes()) && text.get(name.len()).is_some_and(|byte| *byte == 0)
        })
    }

    /// The number of the type of this kind and name.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel has no such type.
    pub fn id(&self, kind: u32, name: &str) -> Result<u32, Failure> {
        let mut ids = 1..self.places.len() as u32;
        let is = |found: Type| found.kind() == kind && self.is_named(found.name, name);
        ids.find(|id| is(self.get(*id))).ok_or_else(|| {
            Failure::Operational(format!(
                "this kernel has no {name}: a congestion control by eBPF takes Linux 6.0 or newer on a 64-bit processor, with \
                 CONFIG_BPF_JIT"
            ))
        })
    }

    /// Bytes of a structure.
    #[must_use]
    pub fn size(&self, id: u32) -> usize {
        self.get(id).more as usize
    }

    /// A structure's member.
    #[must_use]
    pub fn member(&self, id: u32, name: &str) -> Option<Member> {
        let Type { information, .. } = self.get(id);
        // The offset is in bits, and in the lower 24 where some members are bit fields.
        let mask = if information >> 31 == 1 { 0x00ff_ffff } else { u32::MAX };
        let first = self.places[id as usize] + size_of::<Type>();
        (0..self.get(id).count()).find_map(|index| {
            let place: Place = at(&self.bytes, first + index as usize * size_of::<Place>())?;
            self.is_named(place.name, name).then_some(Member {
                index,
                offset: (place.offset & mask) as usize / 8,
                kind: place.kind,
            })
        })
    }

    /// Arguments of the function that a member points to.
    #[must_use]
    pub fn arguments(&self, member: Member) -> Option<u32> {
        let known = |id: u32| (id > 0 && (id as usize) < self.places.len()).then(|| self.get(id));
        let pointer = known(member.kind).filter(|found| found.kind() == POINTER)?;
        known(pointer.more).filter(|found| found.kind() == PROTOTYPE).map(Type::count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernels_congestion_control_is_found_with_its_members() {
        let Ok(types) = Types::of_this_kernel() else { return };
        let id = types.id(STRUCT, "tcp_congestion_ops").unwrap();
        let control = types.member(id, "cong_control").unwrap();
        assert!(matches!(types.arguments(control), Some(2 | 4)), "{control:?}");
        let (name, flags) = (types.member(id, "name").unwrap(), types.member(id, "flags").unwrap());
        assert!(name.offset + 16 <= types.size(id) && flags.offset > name.offset);
        assert_eq!(types.arguments(name), None);
        assert_eq!(types.member(id, "no_such_member"), None);
        assert!(types.id(STRUCT, "no_such_structure").unwrap_err().to_string().contains("Linux 6.0"));
    }

    #[test]
    fn what_is_not_btf_is_refused() {
        assert!(Types::read(vec![]).is_none());
        assert!(Types::read(vec![0; 24]).is_none());
        let mut cut = MAGIC.to_ne_bytes().to_vec();
        cut.extend([1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0]);
        assert!(Types::read(cut).is_none(), "a type that ends too early");
    }
}
