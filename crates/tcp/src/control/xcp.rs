//! XCP's sender: the window that routers make, and NewReno where something is lost.

use super::part::{EXPLICIT_HEADER, HEADER, WindowPart};
use super::{Ack, Asks, Congestion, Feedback, Window};
use meshpace_explicit::{SmoothedRtt, xcp};
use meshpace_keys::Need;

pub(super) static PART: WindowPart = WindowPart::new(
    "xcp",
    "What the routers on the way add and take (XCP); NewReno's recovery of what is lost.",
    "schemes.md 11.1; Katabi, Handley, Rohrs 2002",
    |values, surroundings| {
        Xcp {
            window: Window::new(surroundings.rules),
            rtt: SmoothedRtt::default(),
            header: values.count(EXPLICIT_HEADER) as u8,
        }
        .into()
    },
)
.keys(&[&HEADER])
.needs(&[
    Need { key: "relay", words: super::part::XCP_RELAYS },
    // A receiver that acknowledges several segments at once would have to add up their feedback.
    Need { key: "ack_policy", words: &["every"] },
]);

#[derive(Clone, Debug)]
struct Xcp {
    window: Window,
    rtt: SmoothedRtt,
    /// Bytes of the header on the air.
    header: u8,
}

impl Xcp {
    /// The change of the window that the packet brought (11.5), for the round trip that the sender had told the routers. A
    /// window beyond the sender's own limit could not be used, so the window stays below.
    fn follow(&mut self, ack: &Ack<'_>) {
        let header = ack.feedback.and_then(|feedback| feedback.read(xcp::KIND, xcp::Header::from_bytes));
        let (Some(header), Some(rtt)) = (header, self.rtt.seconds()) else { return };
        let change = header.feedback * rtt / f64::from(ack.mss);
        self.window.set((self.window.cwnd() + change).min(ack.out.limit).max(1.0));
    }
}

impl Congestion for Xcp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn asks(&self) -> Asks {
        Asks { round_trips: true, relays: Some(self.header), ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window.heed_mark(ack);
        self.follow(ack);
        if let Some(rtt) = ack.newest {
            self.rtt.on_sample(rtt);
        }
    }

    /// The window opens by what the routers say.
    fn on_progress(&mut self, _: &Ack<'_>) {}

    /// As much as can be had, as ns-2's sender asks (schemes.md 11.1).
    fn request(&self, mss: u32) -> Option<Feedback> {
        let rtt = self.rtt.seconds();
        let inverse = rtt.unwrap_or(0.0) / (self.window.cwnd() * f64::from(mss));
        Feedback::new(xcp::KIND, &xcp::Header { rtt, inverse, feedback: f64::INFINITY }.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, Outstanding, Rules};
    use crate::tests::bare;
    use meshpace_units::Span;

    fn ack(feedback: Option<&Feedback>, kind: AckKind, rtt: Option<Span>) -> Ack<'_> {
        let out = Outstanding { queued: false, una: 1, nxt: 9001, max: 9001, flight: 9.0, limit: 20.0 };
        Ack { acked: 1000, oldest: rtt, newest: rtt, feedback, ..bare(kind, out, 1000) }
    }

    fn told(feedback: f64) -> Feedback {
        let header = xcp::Header { rtt: Some(0.1), inverse: 1e-5, feedback };
        Feedback::new(xcp::KIND, &header.to_bytes()).unwrap()
    }

    #[test]
    fn the_window_goes_by_feedback_alone_between_a_segment_and_the_senders_limit() {
        let mut sender = Xcp { window: Window::new(Rules::NS2), rtt: SmoothedRtt::default(), header: 0 };
        sender.on_connected(false, 1000);
        let asked = |sender: &Xcp| xcp::Header::from_bytes(sender.request(1000).unwrap().bytes()).unwrap();
        assert_eq!((sender.window.cwnd(), asked(&sender).rtt), (2.0, None));
        // Without a round trip of its own it does not know what a rate means; nor without feedback.
        sender.on_ack(&ack(Some(&told(5e4)), AckKind::New, Some(Span::from_millis(100))));
        sender.on_ack(&ack(None, AckKind::New, None));
        assert_eq!(
            (sender.window.cwnd(), asked(&sender).rtt, asked(&sender).inverse),
            (2.0, Some(0.1), 5e-5)
        );
        sender.on_ack(&ack(Some(&told(5e4)), AckKind::New, None)); // 50,000 byte/s over 100 ms: 5 segments
        assert_eq!(sender.window.cwnd(), 7.0);
        sender.on_ack(&ack(Some(&told(-1e4)), AckKind::Other, None));
        assert_eq!(sender.window.cwnd(), 6.0);
        sender.on_ack(&ack(Some(&told(-1e6)), AckKind::New, None));
        assert_eq!(sender.window.cwnd(), 1.0);
        sender.on_ack(&ack(Some(&told(1e6)), AckKind::New, None));
        assert_eq!(sender.window.cwnd(), 20.0);
    }
}
