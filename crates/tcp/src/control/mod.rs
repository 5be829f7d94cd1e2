//! Sender control: one part decides how much may be outstanding, when the next segment may leave, and what an
//! acknowledgement or its absence makes the sender do.
//!
//! A sender has one [`Control`]. The connection gives it one [`Ack`] a time with everything about it. It answers with a
//! window ([`Allowance`]), a pace ([`Pace`]), or both; it does not limit what it does not answer. The sender keeps what is
//! the same for all: positions, the retransmission timer, the peer's window, the queue of a part that queues. What costs
//! something to keep is kept only for controls that ask ([`Asks`]). A part is one file that implements the trait, here or in
//! another crate; [`Paced`] makes one control of a window part and a pacing part.
//!
//! | part | answers | file |
//! |---|---|---|
//! | [`Recovered`] | a [`Congestion`]'s window, a [`Recovery`]'s losses and repairs | `recovered.rs`, `congestion.rs`, [`recovery`] |
//! | [`Tahoe`] | window | `tahoe.rs` |
//! | [`Reno`] | window | `newreno.rs` |
//! | [`Cubic`] | window | `cubic.rs` |
//! | [`Vegas`] | window | `vegas.rs` |
//! | [`Westwood`] | window | `westwood.rs` |
//! | [`Copa`] | window, pace | `copa/` |
//! | [`Ledbat`]: LEDBAT++ | window | `ledbat/` |
//! | [`Bbr`], version 1 | window, pace | `bbr/` |
//! | [`Bbr3`], version 3 | window, pace | `bbr3/` |
//! | Rate by delay, ours | pace, window | `delay_rate.rs` |
//! | [`Few`]: TCP-FeW | window; below a segment a pace | `few.rs` |
//! | TCP-DAA's sender | window, timeout | `daa.rs` |
//! | XCP's sender | window, and what relays are asked | `xcp.rs` |
//! | RCP's sender | pace, and what relays are asked | `rcp.rs` |
//! | WCP's source | pace, and what relays are asked | `wcp.rs` |
//! | WCPCap's source | pace, and what relays are asked | `wcpcap.rs` |
//! | [`Fixed`] | pace | `fixed.rs` |
//! | The window over the round trip, as Linux under sch_fq | pace | `window_pace.rs` |
//! | [`Khd`]: TCP-AP | pace | `khd.rs` |
//! | [`WirelessKhd`]: TCP-GAP's wireless sender | pace | `wireless_khd.rs` |
//! | [`Khd`] by the carrier-sensing range: the later TCP-AP | pace | `oid.rs` |
//! | TCP-AP with rt-Winf, WE TCP-AP | pace, and what relays are asked | `winf_khd.rs` |
//! | [`WifuKhd`]: TCP-AP as WiFu had it | pace, and queues | `wifu_khd.rs` |
//! | [`Agent`]: TCP-AP as its authors' agent of 2005 | pace, and queues | `agent.rs` |
//! | [`Paced`]: two of these | both | `paced.rs` |
//!
//! What several window parts share: [`Rules`] and [`Window`]; those with a rate and no window are sources behind `rated.rs`.
//! Windows are real numbers of full-sized segments, as in ns-2.

mod ack;
mod answer;
mod congestion;
mod filter;
mod law_pacer;
mod limiter;
mod paced;
mod part;
mod rated;
mod recovered;
pub mod recovery;
mod rules;
pub mod slow_start;
mod window;

meshpace_keys::parts! {
    /// The window parts.
    pub static WINDOWS: WindowPart = [tahoe, newreno, sack_reno, cubic, vegas, westwood, copa, ledbat, bbr, bbr3, few, daa, xcp, rcp, wcp, wcpcap, delay_rate];
}

meshpace_keys::parts! {
    /// The pacing parts.
    pub static PACINGS: PacingPart = [unpaced, fixed, khd, agent, wireless_khd, oid, wifu_khd, winf_khd, window_pace];
}

pub use crate::delivery::RateSample;
pub use crate::feedback::Feedback;
pub use ack::{Ack, AckKind, Departure, Idled, Outstanding, SackRanges, Sent};
pub use agent::Agent;
pub use answer::{Allowance, Asks, Discipline, Pace, PacingView, Reaction};
pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use congestion::{CloneCongestion, Congestion};
pub use copa::Copa;
pub use cubic::{Ahead, Cubic, cubic};
pub use few::{Arithmetic, Base, Few, FewConfig};
pub(crate) use filter::Filter;
pub use fixed::Fixed;
pub use khd::Khd;
pub use ledbat::Ledbat;
pub use limiter::Waiting;
pub use newreno::{Reno, newreno};
pub use paced::Paced;
pub use part::{OWN_RECOVERY, PacingPart, RTO_BACKOFF, SenderPart, Surroundings, WindowPart};
pub use rated::{RateSource, Rated};
pub use recovered::Recovered;
pub use recovery::{Flight, Lost, Progress, RECOVERIES, Recovery, RecoveryPart, Stage};
pub use rules::{Growth, InitialWindow, LossBasis, Rules, WindowCut};
pub use sack_reno::sack_reno;
pub use tahoe::{Tahoe, tahoe};
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use wifu_khd::WifuKhd;
pub use window::Window;
pub use wireless_khd::WirelessKhd;

use alloc::boxed::Box;
use core::fmt::Debug;
use core::ops::Range;
use meshpace_units::{Instant, Span};

/// One sender's control. See the [module's page](self).
///
/// The sender takes the control of its [`Config`](crate::Config) when a connection begins. Equal calls must give equal
/// answers: no clock, no random source.
pub trait Control: CloneControl + Debug + Send + Sync {
    /// The state that the sender has to keep for this control.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    // What the sender reports to its control.

    /// The handshake is complete. `syn_lost`: the SYN's timer expired before that; `mss`: payload of a full
    /// segment, bytes.
    fn on_connected(&mut self, _syn_lost: bool, _mss: u32) {}

    /// An acknowledgement arrived. It does not lie above the data that were sent. Until the application has written something, the
    /// sender reports only the acknowledgement of the SYN.
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction;

    /// The window, in segments, that the window part beside this part has after the acknowledgement just handled. [`Paced`]
    /// reports it to its pacing part.
    fn on_window(&mut self, _now: Instant, _cwnd: f64, _ssthresh: Option<f64>) {}

    /// The window part beside this part took the acknowledgement just handled for a sign of loss. [`Paced`] reports
    /// it to its pacing part; a control used alone knows it already.
    fn on_loss(&mut self) {}

    /// The retransmission timer expired. The answer true means: a probe leaves instead and the timer restarts, so this is no
    /// timeout yet (RFC 8985, section 7.2: a probe is due no later than the timer).
    fn probes(&mut self, _out: &Outstanding) -> bool {
        false
    }

    /// The retransmission timer expired: everything outstanding will be sent again, in order, unless the control
    /// [sees to that itself](Self::goes_back).
    fn on_timeout(&mut self, _now: Instant, _out: &Outstanding) {}

    /// Data leave after nothing was outstanding for a retransmission timeout (RFC 5681, section 4.1).
    fn on_idle(&mut self, idled: &Idled) {
        if let Some(window) = self.congestion_window_mut() {
            window.restart(idled);
        }
    }

    /// A SYN or a segment with payload leaves.
    fn on_departure(&mut self, _departure: &Departure) {}

    /// The payload of a full segment changed from `old` to `new` bytes.
    fn on_mss_change(&mut self, old: u32, new: u32) {
        if let Some(window) = self.congestion_window_mut() {
            window.rescale(old, new);
        }
    }

    /// The part `taken` of the range that [`hole`](Self::hole) asked for is on its way, or is not there to be
    /// sent.
    fn on_hole_taken(&mut self, _taken: Range<u64>) {}

    /// The control's [`deadline`](Self::deadline) is over. The next deadline is later.
    fn on_deadline(&mut self, _now: Instant, _out: &Outstanding) -> Reaction {
        Reaction::Continue
    }

    // What the control answers.

    /// The time at which the control is to be asked again, whatever arrives. The sender asks controls with
    /// `deadlines` in [`Asks`].
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The most that may be outstanding; `None` says nothing of the window. `new_data`: no data that were sent before would
    /// be sent again. Less than a segment counts as one segment: the pace sets how far apart such segments are.
    fn window(&self, _mss: u32, _new_data: bool) -> Option<Allowance> {
        None
    }

    /// The number of new segments that may follow the acknowledgement just handled; `None` sets no limit besides the
    /// window. Where the pace gives permissions, they replace this limit.
    fn burst(&self) -> Option<u32> {
        None
    }

    /// True if the segment that has just left is to carry the push flag, so that a receiver which acknowledges thinly answers at
    /// once. `last`: no segment can follow now.
    fn pushes(&self, _last: bool) -> bool {
        false
    }

    /// The time at which the next segment may leave; `None`: nothing is held back.
    fn pace(&self, _now: Instant) -> Option<Pace> {
        None
    }

    /// A range, sent before, that leaves next, ahead of new data, whatever the windows say. The sender asks controls with `sack`
    /// in [`Asks`] each time something may leave, for one segment at a time. `unsent`: there are new data that the peer's window
    /// lets out, so a segment that is perhaps not lost can wait.
    fn hole(&self, _unsent: bool) -> Option<Range<u64>> {
        None
    }

    /// The first part of `range` that the peer, as far as is known, does not have; it may be empty. After a
    /// timeout or a fast retransmit that goes back, only this part is sent again. The sender asks controls with
    /// `sack` in [`Asks`].
    fn missing(&self, range: Range<u64>) -> Range<u64> {
        range
    }

    /// True if everything outstanding is sent again in order after a timeout, and where segments have become too big for
    /// the path. If false, only the range that [`hole`](Self::hole) asks for is sent again.
    fn goes_back(&self) -> bool {
        true
    }

    /// The request to the relays on the way, in a header beside every SYN and every segment with payload. The relays
    /// change it, the receiver returns it, and it comes back as [`Ack::feedback`]. The sender asks controls with `relays`
    /// in [`Asks`].
    fn request(&self, _mss: u32) -> Option<Feedback> {
        None
    }

    /// The retransmission timeout. `rto` is the estimator's value with its back-off.
    fn timeout(&self, rto: Span) -> Span {
        rto
    }

    // What can be seen of the control.

    /// The control's congestion window, for parts that have one of their own. The sender restarts it after idleness,
    /// rescales it with the segment and shows it; the part does nothing for that.
    fn congestion_window(&self) -> Option<&Window> {
        None
    }

    /// The same window, to be changed.
    fn congestion_window_mut(&mut self) -> Option<&mut Window> {
        None
    }

    /// The congestion window in segments, without the segments that fast recovery adds; `None` if the control says
    /// nothing of the window.
    fn cwnd(&self) -> Option<f64> {
        self.congestion_window().map(Window::cwnd)
    }

    /// The slow-start threshold in segments; `None` until it is first set.
    fn ssthresh(&self) -> Option<f64> {
        self.congestion_window()?.known_ssthresh()
    }

    /// The state of the control's pacing.
    fn pacing(&self) -> PacingView {
        PacingView::default()
    }
}

/// Clones a control in its box; every [`Control`] that is [`Clone`] has it.
pub trait CloneControl {
    /// A copy in a box of its own.
    fn clone_box(&self) -> Box<dyn Control>;
}

impl<T: Control + Clone + 'static> CloneControl for T {
    fn clone_box(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Control> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box itself is no control.
        (**self).clone_box()
    }
}
