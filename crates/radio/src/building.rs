//! What besides distance makes a link: walls, ceilings, radios that differ, directions that differ.
//!
//! Simulators assume a flat world, circles, equal radios and symmetric links (Kotz et al., "Experimental evaluation of
//! wireless simulation assumptions", MSWiM 2004); each part here drops one of these, and by itself
//! (docs/experiments/thesis.md, section 5, K1 to K4). Whatever is drawn depends on the seed and on the node or the pair
//! only: every scheme of a comparison meets the same building.

use meshpace_units::NodeId;

/// Losses and gains on top of [`Propagation`](crate::propagation::Propagation); by default there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Building {
    /// Standard deviation of the difference between a link's two directions, dB.
    pub asymmetry_db: f64,
    /// Standard deviation of a node's gain, dB, which counts whenever it sends or receives.
    pub gain_spread_db: f64,
    /// Ceilings, if there are any.
    pub floors: Option<Floors>,
    /// Links that are known to work, and by how much.
    pub kept: Option<Kept>,
}

/// A building of several storeys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// What a ceiling takes away, dB.
    pub ceiling_db: f64,
    /// From one floor to the next, m; the first is at height 0.
    pub storey: f64,
}

/// The mesh's builders saw to it that these links work: what is drawn for them is drawn again until they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// How far above the threshold of decoding both directions are at least, dB.
    pub margin_db: f64,
    /// The links, each once, the lower node first, in order.
    pub links: Vec<(NodeId, NodeId)>,
    /// Which draw of all nodes' gains ([`Links::gain_draw`](crate::Links::gain_draw)).
    pub gain_draw: u32,
}

impl Floors {
    /// Ceilings between two heights.
    pub(crate) fn between(&self, a: f64, b: f64) -> f64 {
        let floor = |height: f64| libm::floor(height / self.storey);
        (floor(a) - floor(b)).abs()
    }
}

impl Building {
    /// True if there is nothing in it.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// By how many dB a link may be better than its distance says, luck beyond three standard deviations aside, and
    /// shadowing, which [`Propagation::farthest`](crate::propagation::Propagation::farthest) counts.
    #[must_use]
    pub fn luck_db(&self) -> f64 {
        3.0 * (self.asymmetry_db / 2.0 + core::f64::consts::SQRT_2 * self.gain_spread_db)
    }
}
