//! Which interfaces, by the kernel's indices, are the mesh's. Interfaces come and go, and come back with another index.

use meshpace_linux::interface;
use meshpace_units::{Instant, Span};
use std::collections::BTreeMap;

/// How long an index is believed to belong to the interface of which it was asked last.
const BELIEVED: Span = Span::from_secs(1);

/// The mesh's interfaces.
#[derive(Debug)]
pub struct Interfaces {
    names: Vec<String>,
    /// What indices seen lately belong to.
    known: BTreeMap<u32, bool>,
    until: Instant,
}

impl Interfaces {
    /// The interfaces of these names are the mesh's.
    pub fn new(names: &[String]) -> Self {
        Self { names: names.to_vec(), known: BTreeMap::new(), until: Instant::ZERO }
    }

    /// True if the interface of that index is one of the mesh's.
    pub fn is_mesh(&mut self, now: Instant, index: Option<u32>) -> bool {
        let Some(index) = index.filter(|_| !self.names.is_empty()) else { return false };
        if now >= self.until {
            self.known.clear();
            self.until = now + BELIEVED;
        }
        let names = &self.names;
        let is_named = || interface::name(index).is_ok_and(|name| names.contains(&name));
        *self.known.entry(index).or_insert_with(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_known_by_its_index() {
        let index = Some(interface::index("lo").expect("every machine has one"));
        let mut lo = Interfaces::new(&["lo".to_owned()]);
        assert!(lo.is_mesh(Instant::ZERO, index));
        assert!(!lo.is_mesh(Instant::ZERO, None) && !lo.is_mesh(Instant::ZERO, Some(u32::MAX)));
        let mut other = Interfaces::new(&["mesh0".to_owned()]);
        assert!(!other.is_mesh(Instant::ZERO, index) && !Interfaces::new(&[]).is_mesh(Instant::ZERO, index));
    }
}
