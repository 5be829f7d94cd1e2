//! What is doubtful.

use meshpace_units::Instant;

/// What cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// More arrives than the links carry.
    Rate,
    /// A round trip is shorter than its packets take on the air.
    RoundTrip,
    /// More hops than a path can have.
    Hops,
    /// An interface toward the mesh is not there.
    InterfaceMissing,
    /// What an interface carries is another one's to the kernel: that of its bridge, of its VLAN.
    InterfaceBelow,
    /// The interfaces carry what this machine's IP never sees.
    Switched,
    /// The interfaces carry what the daemon does not see.
    Unseen,
    /// Only one direction of connections passes here.
    OneSided,
}

impl Name {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Rate,
        Self::RoundTrip,
        Self::Hops,
        Self::InterfaceMissing,
        Self::InterfaceBelow,
        Self::Switched,
        Self::Unseen,
        Self::OneSided,
    ];

    /// As status, events and metrics call it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::RoundTrip => "round-trip",
            Self::Hops => "hops",
            Self::InterfaceMissing => "interface-missing",
            Self::InterfaceBelow => "interface-below",
            Self::Switched => "switched",
            Self::Unseen => "unseen",
            Self::OneSided => "one-sided",
        }
    }

    /// True if pacing would use a wrong figure, or would reach nothing. Then pacing is not switched on unless the operator insists.
    /// Traffic that is not seen may be UDP, and connections of which only one direction is seen are left alone; these two do not
    /// forbid pacing.
    #[must_use]
    pub const fn contradicts(self) -> bool {
        !matches!(self, Self::Unseen | Self::OneSided)
    }

    /// The number of looks in a row that have to show the doubt. A single look may fall into a change. When a hole is filled, data
    /// that came before are acknowledged all at once. That counts as goodput for up to three looks, because goodput is reported by
    /// the second until the next second is over.
    pub(super) const fn confirmed(self) -> u32 {
        match self {
            Self::Rate => 5,
            _ => 2,
        }
    }

    /// True if evidence shows only now and then, in what flows happen to do: the doubt outlives it.
    pub(super) const fn is_of_flows(self) -> bool {
        matches!(self, Self::Rate | Self::RoundTrip | Self::Hops)
    }
}

/// Something doubtful: what, since when, in words, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What.
    pub name: Name,
    /// Since when.
    pub since: Instant,
    /// The evidence found latest.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
}

/// What speaks for a doubt at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub name: Name,
    pub found: String,
    pub remedy: String,
}
