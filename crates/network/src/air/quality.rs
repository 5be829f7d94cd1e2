//! The quality of a link at time 0, for metrics of routes.
//!
//! An attempt is one exchange of the metrics' test frame, alone in its frame, with no other frame on the air. The link's table of losses
//! takes its part; where receivers go by error curves, noise takes its part at the mean strength. Frames there are the data, and an RTS
//! if the frame needs one; frames back the acknowledgement and the CTS.

use super::Air;
use meshpace_radio::reception::survival;
use meshpace_radio::standard::control_sizes::{ACK_BYTES, CTS_BYTES, RTS_BYTES};
use meshpace_routing::{LinkQuality, TEST_FRAME};
use meshpace_units::{NodeId, Span};

impl Air {
    /// The link from one node to another; `gradual`: frames are lost by error curves.
    pub(crate) fn quality(&self, from: NodeId, to: NodeId, gradual: bool) -> LinkQuality {
        let phy = &self.config.phy;
        let data = self.mode_between(from, to);
        let answers = phy.answer(data);
        let frame = phy.mpdu(TEST_FRAME);
        let arrives = |from, to, size, mode| {
            let noise = self.config.limits.noise;
            let survives = match self.heard(from, to).filter(|hearer| hearer.decodable) {
                Some(hearer) if gradual => survival(phy, mode, size, hearer.power / noise),
                Some(_) => 1.0,
                None => 0.0,
            };
            survives * (1.0 - self.losses.share(from, to, size))
        };
        let (mut there, mut back) = (arrives(from, to, frame, data), arrives(to, from, ACK_BYTES, answers));
        let mut time =
            phy.difs() + phy.airtime(frame, data) + phy.sifs() + phy.ack_airtime(ACK_BYTES, answers);
        if phy.protects(frame) {
            there *= arrives(from, to, RTS_BYTES, answers);
            back *= arrives(to, from, CTS_BYTES, answers);
            time += phy.rts_airtime(answers) + phy.sifs() + phy.answer_airtime(answers) + phy.sifs();
        }
        let bits = Span::from_nanos(TEST_FRAME.bits() * 1_000_000_000 / data.rate.as_bits_per_sec());
        LinkQuality {
            rate: Some(data.rate),
            loss: Some(1.0 - there),
            loss_back: Some(1.0 - back),
            overhead: Some(time.saturating_sub(bits)),
        }
    }
}
