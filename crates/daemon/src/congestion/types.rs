//! What the running kernel says of its own types (BTF, Documentation/bpf/btf.rst): where a structure's members are.

use crate::Failure;
use crate::shared_bytes::u32_at;

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

/// The kernel's types.
#[derive(Debug)]
pub struct Types {
    bytes: Vec<u8>,
    /// Where each type is, by its number.
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

    fn read(bytes: Vec<u8>) -> Option<Self> {
        let number = |at: usize| bytes.get(at..at + 4).map(|_| u32_at(&bytes, at) as usize);
        (u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]) == MAGIC).then_some(())?;
        let header = number(4)?;
        let (mut at, length, names) = (header + number(8)?, number(12)?, header + number(16)?);
        let end = at + length;
        // Number 0 is `void`, which is not written down.
        let mut places = vec![0];
        while at < end {
            places.push(at);
            let information = number(at + 4)?;
            let (kind, members) = (information >> 24 & 0x1f, information & 0xffff);
            at += 12
                + match kind {
                    1 | 14 | 17 => 4,
                    3 => 12,
                    4 | 5 | 15 | 19 => 12 * members,
                    6 | 13 => 8 * members,
                    _ => 0,
                };
        }
        Some(Self { bytes, places, names })
    }

    fn number(&self, id: u32, at: usize) -> u32 {
        u32_at(&self.bytes, self.places[id as usize] + at)
    }

    fn kind(&self, id: u32) -> u32 {
        self.number(id, 4) >> 24 & 0x1f
    }

    fn is_named(&self, at: usize, name: &str) -> bool {
        let from = self.names + u32_at(&self.bytes, at) as usize;
        self.bytes.get(from..).is_some_and(|text| {
            text.starts_with(name.as_bytes()) && text.get(name.len()).is_some_and(|byte| *byte == 0)
        })
    }

    /// The number of the type of this kind and name.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel has no such type.
    pub fn id(&self, kind: u32, name: &str) -> Result<u32, Failure> {
        let mut ids = 1..self.places.len() as u32;
        ids.find(|id| self.kind(*id) == kind && self.is_named(self.places[*id as usize], name)).ok_or_else(|| {
            Failure::Operational(format!(
                "this kernel has no {name}: a congestion control by eBPF takes Linux 6.0 or newer on a 64-bit processor, with \
                 CONFIG_BPF_JIT"
            ))
        })
    }

    /// Bytes of a structure.
    #[must_use]
    pub fn size(&self, id: u32) -> usize {
        self.number(id, 8) as usize
    }

    /// A structure's member.
    #[must_use]
    pub fn member(&self, id: u32, name: &str) -> Option<Member> {
        let information = self.number(id, 4);
        // The offset is in bits, and in the lower 24 where some members are bit fields.
        let mask = if information >> 31 == 1 { 0x00ff_ffff } else { u32::MAX };
        (0..information & 0xffff).find_map(|index| {
            let at = self.places[id as usize] + 12 + 12 * index as usize;
            self.is_named(at, name).then(|| Member {
                index,
                offset: (u32_at(&self.bytes, at + 8) & mask) as usize / 8,
                kind: u32_at(&self.bytes, at + 4),
            })
        })
    }

    /// Arguments of the function that a member points to.
    #[must_use]
    pub fn arguments(&self, member: Member) -> Option<u32> {
        let function = (self.kind(member.kind) == POINTER).then(|| self.number(member.kind, 8))?;
        (self.kind(function) == PROTOTYPE).then(|| self.number(function, 4) & 0xffff)
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
