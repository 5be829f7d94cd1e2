//! The structs that programs in the kernel share with this side: a file a header of `bpf/include/`, a struct of Rust a struct of C.
//!
//! Their fields have the names that C gives them, and stand in its order without a gap: `zerocopy` refuses a struct that has one. A test has the
//! compiler of the programs assert every size and every offset. Numbers are in the machine's byte order unless their type says another.

pub mod congestion;
pub mod edge;
pub mod gateway;
pub mod host;
pub mod shaping;

use std::net::{IpAddr, Ipv6Addr};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Declares a header's structs. Each has its `SIZE` in bytes, and converts from and to as many.
macro_rules! structs {
    (
        $header:literal, where $($constant:literal = $value:expr),*;
        $($(#[$about:meta])* $name:ident = $c:literal { $($(#[$what:meta])* $field:ident: $kind:ty,)* })*
    ) => {
        $(
            $(#[$about])*
            #[derive(
                Clone, Copy, Debug, zerocopy::FromBytes, zerocopy::Immutable, zerocopy::IntoBytes,
                zerocopy::KnownLayout,
            )]
            #[repr(C)]
            pub struct $name {
                $($(#[$what])* pub $field: $kind,)*
            }

            impl $name {
                /// Its length, bytes.
                pub const SIZE: usize = size_of::<Self>();

                /// As the kernel's maps have it.
                #[must_use]
                pub const fn to_bytes(self) -> [u8; Self::SIZE] {
                    zerocopy::transmute!(self)
                }

                /// What the kernel's maps have.
                #[must_use]
                pub const fn of_bytes(bytes: [u8; Self::SIZE]) -> Self {
                    zerocopy::transmute!(bytes)
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    zerocopy::FromZeros::new_zeroed()
                }
            }
        )*

        /// The C header, and what it has to say for these structs to be its own.
        #[cfg(test)]
        pub fn claims() -> (&'static str, Vec<String>) {
            let mut claims = Vec::new();
            $(
                claims.push(format!("sizeof(struct {}) == {}", $c, $name::SIZE));
                $(
                    let (field, at) = (stringify!($field), std::mem::offset_of!($name, $field));
                    claims.push(format!("offsetof(struct {}, {field}) == {at}", $c));
                    let size = size_of::<$kind>();
                    claims.push(format!("sizeof(((struct {} *)0)->{field}) == {size}", $c));
                )*
            )*
            $(claims.push(format!("{} == {}", $constant, $value));)*
            ($header, claims)
        }
    };
}
use structs;

/// An address, `__be32 [4]`; IPv4 addresses as IPv4-mapped IPv6 ones (RFC 4291, section 2.5.5.2).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    Immutable,
    IntoBytes,
    KnownLayout,
)]
#[repr(C)]
pub struct Address([u8; 16]);

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => Self(v4.to_ipv6_mapped().octets()),
            IpAddr::V6(v6) => Self(v6.octets()),
        }
    }
}

impl From<Address> for IpAddr {
    fn from(Address(octets): Address) -> Self {
        Self::V6(Ipv6Addr::from(octets)).to_canonical()
    }
}

/// An address and bits of it as the kernel's tries take them (`struct bpf_lpm_trie_key`): of IPv4 behind the 96 that say so.
pub fn mapped_bits(prefix: ipnet::IpNet) -> u32 {
    u32::from(prefix.prefix_len()) + if prefix.addr().is_ipv4() { 96 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::var_os;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// What the compiler of the programs says to a header in which all of this is asserted; empty if it holds.
    fn refused(header: &str, claims: &[String]) -> String {
        let asserted = claims.iter().map(|claim| format!("_Static_assert({claim}, \"\");\n"));
        let source: String =
            [format!("#include \"{header}\"\n#include <stddef.h>\n")].into_iter().chain(asserted).collect();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf/include");
        let mut compiler = Command::new(var_os("CLANG").unwrap_or_else(|| "clang".into()))
            .args(["-target", "bpf", "-x", "c", "-fsyntax-only", "-I"])
            .arg(include)
            .arg("-")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the compiler that has made the programs");
        compiler.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("read");
        let done = compiler.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.success(), said.is_empty(), "{said}");
        said
    }

    #[test]
    fn every_struct_is_laid_out_as_its_header_says() {
        let headers =
            [congestion::claims(), edge::claims(), gateway::claims(), host::claims(), shaping::claims()];
        for (header, claims) in headers {
            assert_eq!(refused(header, &claims), "", "{header}");
        }
    }

    #[test]
    fn a_struct_that_differs_is_found() {
        let (header, claims) = gateway::claims();
        for claim in claims {
            let (what, number) = claim.split_once(" == ").expect("an equation");
            let number: usize = number.parse().expect("a number");
            if what.ends_with("segment)") {
                let wrong = format!("{what} == {}", number + 1);
                assert!(refused(header, &[wrong]).contains("static"), "{claim}");
            }
        }
    }

    #[test]
    fn addresses_survive_the_way_to_the_kernel_and_back() {
        for text in ["10.1.2.3", "fd77::9", "::1", "0.0.0.0"] {
            let address: IpAddr = text.parse().expect("an address");
            assert_eq!(IpAddr::from(Address::from(address)), address);
        }
    }
}
