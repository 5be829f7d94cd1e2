//! How long the wired part's round trip of a connection is, as far as its own packets tell.

use meshpace_tcp::Segment;
use meshpace_units::{Instant, Seq, Span};

/// The shortest round trip seen from the gateway to the Internet host and back. Data to the mesh tells none; the handshake does,
/// since whichever side opens, the mesh host sends a segment that the Internet host answers at once (RFC 9293, section 3.5), and
/// so does data to the Internet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WiredTrip {
    shortest: Option<Span>,
    /// The mesh host's SYN: what acknowledges it, and when it passed; `None` in it once it passed again (Karn's rule).
    opening: Option<(Seq, Option<Instant>)>,
}

impl WiredTrip {
    /// The shortest so far, unless nothing told any.
    pub const fn shortest(&self) -> Option<Span> {
        self.shortest
    }

    /// Another way told one.
    pub fn on_sample(&mut self, rtt: Span) {
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// A segment from the mesh.
    pub fn on_wireless(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.syn {
            let again = self.opening.is_some_and(|(end, _)| end == segment.end());
            self.opening = Some((segment.end(), (!again).then_some(now)));
        }
    }

    /// A segment from the Internet.
    pub fn on_wired(&mut self, now: Instant, segment: &Segment) {
        let answered = |&mut (end, _): &mut _| segment.flags.ack && segment.ack.at_or_after(end);
        if let Some((_, Some(at))) = self.opening.take_if(answered) {
            self.on_sample(now.saturating_since(at));
        }
    }
}
