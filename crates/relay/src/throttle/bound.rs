//! How far apart a flow's packets are to set out: equations 4.1 to 4.5 of schemes.md 4.

use meshpace_units::{Bytes, Rate, Span};

meshpace_keys::words! {
    /// Which nodes compete with a flow of h hops among N (schemes.md 4: `ot_rho`).
    pub enum Density {
        /// Those that send data: h(N - 1).
        Own = "own",
        /// All of the competitors', as the text of section 2.5.2 counts them: (h + 1)(N - 1).
        Text = "text",
    }
}

meshpace_keys::words! {
    /// What load counts (schemes.md 4: `ot_count`).
    pub enum Counting {
        /// Every attempt of the MAC, with 34 bytes more than the packet.
        Attempts = "attempts",
        /// Each packet once a hop, with 28 bytes more than the packet.
        Once = "once",
    }
}

impl Counting {
    /// Bytes of lower layers that load counts with each packet.
    #[must_use]
    pub const fn overhead(self) -> Bytes {
        Bytes(match self {
            Self::Attempts => 34,
            Self::Once => 28,
        })
    }
}

/// The bound on a flow's load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// L_TCP_crit; `None`: that of the shipped table.
    pub critical: Option<Rate>,
    /// The load correction factor; `None`: that of the shipped table.
    pub alpha: Option<f64>,
    /// The competitors' nodes.
    pub density: Density,
    /// What load counts.
    pub counting: Counting,
}

/// What a flow's bound depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Hops of its way.
    pub hops: u32,
    /// Flows that share the region, itself included.
    pub flows: u32,
    /// Its full packets, with IP header.
    pub full: Bytes,
}

impl Bound {
    /// r_TCP, bit/s (4.4); `None` where nothing bounds it: at its destination already.
    #[must_use]
    pub fn rate(&self, at: &Situation) -> Option<f64> {
        let (hops, others) = (f64::from(at.hops), f64::from(at.flows.max(1) - 1));
        let competing = match self.density {
            Density::Own => hops * others,
            Density::Text => (hops + 1.0) * others,
        };
        let critical = match self.critical {
            Some(rate) => rate.as_bits_per_sec() as f64,
            None => super::calibration::critical(at.hops, at.full, self.counting)?,
        };
        let alpha = match self.alpha {
            Some(alpha) => alpha,
            None => super::calibration::alpha(at.hops, at.flows, at.full)?,
        };
        (at.hops > 0).then(|| alpha * critical / (hops + competing))
    }

    /// Delta, the delay of a packet of this size at a rate in bit/s (4.5).
    #[must_use]
    pub fn delay(&self, rate: f64, packet: Bytes) -> Span {
        let bits = (packet + self.counting.overhead()).bits() as f64;
        Span::from_secs_f64(bits / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// schemes.md 21, 5: h 3, N 3, L 1.2 Mbit/s, alpha 1, MSS 600.
    #[test]
    fn the_vectors() {
        let critical = Some(Rate::bits_per_sec(1_200_000));
        let bound = Bound { critical, alpha: Some(1.0), density: Density::Own, counting: Counting::Attempts };
        let at = Situation { hops: 3, flows: 3, full: Bytes(640) };
        let rounded = |bound: Bound| {
            let rate = bound.rate(&at).expect("it is bounded");
            let delay = bound.delay(rate, Bytes(640));
            (rate.round() as u64, (delay.as_secs_f64() * 1e5).round() / 1e2)
        };
        assert_eq!(rounded(bound), (133_333, 40.44));
        assert_eq!(rounded(Bound { counting: Counting::Once, ..bound }), (133_333, 40.08));
        assert_eq!(rounded(Bound { density: Density::Text, ..bound }), (109_091, 49.43));
        assert_eq!(rounded(Bound { alpha: Some(1.5), ..bound }), (200_000, 26.96));
        assert_eq!(bound.rate(&Situation { hops: 0, ..at }), None);
    }
}
