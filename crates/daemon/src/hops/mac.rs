//! Link-layer addresses.

use std::str::FromStr;

/// An Ethernet or 802.11 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mac([u8; 6]);

impl Mac {
    /// What a path without next hop has.
    pub(super) const NONE: Self = Self([0; 6]);
}

impl FromStr for Mac {
    type Err = ();

    /// Six groups of two hexadecimal digits: `02:6d:70:00:00:01`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut bytes = [0; 6];
        let mut groups = text.split(':');
        for byte in &mut bytes {
            let group = groups.next().filter(|group| group.len() == 2).ok_or(())?;
            *byte = u8::from_str_radix(group, 16).map_err(|_| ())?;
        }
        if groups.next().is_some() { Err(()) } else { Ok(Self(bytes)) }
    }
}
