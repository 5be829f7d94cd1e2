//! Congestion control: a window, and what opens and cuts it. What finds losses stands beside it.

use super::recovery::Lost;
use super::{
    Ack, Allowance, Asks, Departure, Feedback, Flight, Idled, Outstanding, Pace, PacingView, Window,
};
use alloc::boxed::Box;
use core::fmt::Debug;
use meshpace_units::{Instant, Span};

/// A window part beside any [`Recovery`](super::Recovery): [`Recovered`](super::Recovered) makes a control of both.
///
/// Where a method is not given, it is Reno's, by the rules of the window (RFC 5681). Equal calls must give equal answers:
/// no clock, no random source.
pub trait Congestion: CloneCongestion + Debug + Send + Sync {
    /// What the sender has to keep for it.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    /// Its window.
    fn window(&self) -> &Window;

    /// The same, to be changed.
    fn window_mut(&mut self) -> &mut Window;

    /// The handshake is complete. `syn_lost`: its timer expired on the way; `mss`: payload of a full segment.
    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.window_mut().open(syn_lost, mss);
    }

    /// An acknowledgement arrived; what it says of losses is not known yet. A mark is answered here.
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window_mut().heed_mark(ack);
    }

    /// What that acknowledged lets the window open.
    fn on_progress(&mut self, ack: &Ack<'_>) {
        self.window_mut().grow(ack);
    }

    /// A loss was found. `inflation`: segments that recovery had added to the window. It sets the threshold, and returns the
    /// window for going on, segments: recovery sets it.
    fn on_loss(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        self.window_mut().cut_threshold(inflation, out)
    }

    /// The latest loss or timeout was none: the window is what it was before, unless it has become greater since.
    fn on_undo(&mut self) {
        self.window_mut().undo();
    }

    /// A segment was found lost; told before the loss is [answered](Self::on_loss), by a recovery that knows it.
    fn on_lost(&mut self, _now: Instant, _lost: &Lost) {}

    /// Losses have been found and answered: what is on its way after this acknowledgement. Told by a recovery that knows it.
    fn on_flight(&mut self, _ack: &Ack<'_>, _flight: &Flight) {}

    /// The retransmission timer expired, `again` for the same segment: everything outstanding will be sent again, in order.
    fn on_timeout(&mut self, _now: Instant, again: bool, out: &Outstanding) {
        self.window_mut().time_out(again, out);
    }

    /// Data leave after nothing was outstanding for a retransmission timeout (RFC 5681, section 4.1).
    fn on_idle(&mut self, idled: &Idled) {
        self.window_mut().restart(idled);
    }

    /// A SYN or a segment with payload leaves.
    fn on_departure(&mut self, _departure: &Departure) {}

    /// The payload of a full segment changed from `old` to `new` bytes.
    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.window_mut().rescale(old, new);
    }

    /// What may be outstanding: a part of what the window and the recovery's addition allow.
    fn limited(&self, allowance: Allowance, _mss: u32) -> Allowance {
        allowance
    }

    /// Whether what has just left is to be pushed, so that a receiver which acknowledges thinly answers at once. `last`: nothing can
    /// follow now.
    fn pushes(&self, _last: bool) -> bool {
        false
    }

    /// When the next segment may leave; `None`: nothing is held back.
    fn pace(&self, _now: Instant) -> Option<Pace> {
        None
    }

    /// What relays on the way are asked ([`Control::request`](super::Control::request)).
    fn request(&self, _mss: u32) -> Option<Feedback> {
        None
    }

    /// The retransmission timeout; `rto` is the estimator's, with its back-off.
    fn timeout(&self, rto: Span) -> Span {
        rto
    }

    /// The window in segments, as it is shown.
    fn cwnd(&self) -> f64 {
        self.window().cwnd()
    }

    /// Its pacing.
    fn pacing(&self) -> PacingView {
        PacingView::default()
    }
}

/// Cloning behind the box; every [`Congestion`] that is [`Clone`] has it.
pub trait CloneCongestion {
    /// A copy in a box of its own.
    fn clone_box(&self) -> Box<dyn Congestion>;
}

impl<T: Congestion + Clone + 'static> CloneCongestion for T {
    fn clone_box(&self) -> Box<dyn Congestion> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Congestion> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box itself is no congestion control.
        (**self).clone_box()
    }
}
