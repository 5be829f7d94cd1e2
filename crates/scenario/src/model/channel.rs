//! The channels of a mesh whose radios are on several: each carries its own frames, and no other's.

use super::{LinkRate, Radio};
use meshpace_radio::{Mode, Standard};
use meshpace_settings::Values;
use meshpace_units::{NodeId, Rate};

/// A channel, and the radios on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Its centre, MHz.
    pub mhz: u16,
    /// Frame timing and the rates there are.
    pub standard: Standard,
    /// What the standard was made of: the values of its own keys.
    pub own: Values,
    /// Rate of RTS, CTS, ACK and broadcast frames.
    pub basic_rate: Rate,
    /// The radios on the channel in the order of their nodes; each node has one here at the most.
    pub radios: Vec<NodeRadio>,
}

/// A radio of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeRadio {
    /// Whose it is.
    pub node: NodeId,
    /// Its number among its node's radios, from 0.
    pub number: u16,
    /// How its unicast data go.
    pub mode: &'static Mode,
}

impl Channel {
    /// Its number by its centre (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2); `None`: no number has that centre.
    #[must_use]
    pub fn number(&self) -> Option<u16> {
        number_of(self.mhz)
    }

    /// The radio of a node, if it has one here.
    #[must_use]
    pub fn radio_of(&self, node: NodeId) -> Option<&NodeRadio> {
        self.radios.binary_search_by_key(&node, |radio| radio.node).ok().map(|at| &self.radios[at])
    }

    /// True if something holds here that holds on this channel; `None`: on all.
    #[must_use]
    pub fn carries(&self, mhz: Option<u16>) -> bool {
        mhz.is_none_or(|mhz| mhz == self.mhz)
    }

    /// True if a rate of links is one of links here.
    #[must_use]
    pub(crate) fn has(&self, rate: &LinkRate) -> bool {
        let mut ends = [Some(rate.from), rate.to].into_iter().flatten();
        self.carries(rate.mhz) && ends.all(|end| self.radio_of(end).is_some())
    }

    /// What the radios on this channel have in common, `common` being what those of all channels have. A radio whose data go otherwise
    /// says so itself.
    #[must_use]
    pub fn radio(&self, common: &Radio) -> Radio {
        Radio {
            standard: self.standard,
            own: self.own.clone(),
            rate: self.standard.default_mode.rate,
            basic_rate: self.basic_rate,
            link_rates: common.link_rates.iter().filter(|rate| self.has(rate)).copied().collect(),
            ..common.clone()
        }
    }
}

/// The number of the channel with this centre.
fn number_of(mhz: u16) -> Option<u16> {
    match mhz {
        2484 => Some(14),
        2412..=2472 if (mhz - 2407).is_multiple_of(5) => Some((mhz - 2407) / 5),
        5005..=5980 if mhz.is_multiple_of(5) => Some((mhz - 5000) / 5),
        _ => None,
    }
}

/// The centre of the channel with this number, MHz: 1 to 14 in the band of 2.4 GHz, others in that of 5 GHz.
#[must_use]
pub(crate) const fn centre_of(number: u16) -> u16 {
    match number {
        14 => 2484,
        1..=13 => 2407 + 5 * number,
        _ => 5000 + 5 * number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_centre_and_the_centre_its_number() {
        for (number, mhz) in
            [(1, 2412), (6, 2437), (13, 2472), (14, 2484), (36, 5180), (38, 5190), (165, 5825)]
        {
            assert_eq!((centre_of(number), number_of(mhz)), (mhz, Some(number)));
        }
        for nothing in [2411, 2483, 5181, 6115] {
            assert_eq!(number_of(nothing), None, "{nothing} MHz");
        }
    }
}
