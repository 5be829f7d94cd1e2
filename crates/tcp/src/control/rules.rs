//! The rules that ns-2 and the RFCs give differently, as data.

use meshpace_keys::words;

/// The congestion window when the handshake is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// A number of segments (ns-2's `windowInit_`).
    Segments(f64),
    /// Two to four segments by size, at most 4,380 bytes (RFC 3390, section 1).
    Rfc3390,
    /// Ten segments, at most 14,600 bytes or two segments (RFC 6928, section 2).
    Rfc6928,
}

impl InitialWindow {
    /// The window in segments of `mss` bytes.
    #[must_use]
    pub fn segments(self, mss: u32) -> f64 {
        let size = f64::from(mss.max(1));
        match self {
            Self::Segments(segments) => segments,
            Self::Rfc3390 => (4.0 * size).min((2.0 * size).max(4380.0)) / size,
            Self::Rfc6928 => (10.0 * size).min((2.0 * size).max(14_600.0)) / size,
        }
    }
}

words! {
    /// The window as it is halved on a loss (`window_cut`; ns-2's `precisionReduce_`, schemes.md 16).
    pub enum WindowCut {
        /// A real number.
        Real = "real",
        /// In whole segments, and so is its half: ns-2's default before 24 January 2006.
        Integer = "integer",
    }
}

/// What is halved on a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossBasis {
    /// The window, `min(cwnd + inflation, window_)`: `ssthresh = max(2, floor(half))`, `cwnd = max(1, half)`
    /// (ns2-behaviour.md 6.4).
    Window(WindowCut),
    /// What is in flight: `ssthresh = max(flight / 2, 2)`, `cwnd = ssthresh` (RFC 5681, equation 4).
    FlightSize,
}

/// How acknowledgements open the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Per acknowledgement: 1 segment in slow start (no more than was acknowledged), `1/cwnd` after it.
    PerAck,
    /// By bytes acknowledged, in slow start at most `limit` segments an acknowledgement, 1 after a timeout (RFC 3465).
    Bytes {
        /// RFC 3465's L, in segments.
        limit: f64,
    },
    /// By segments acknowledged, however many an acknowledgement covers, while the window is in use (Linux's tcp_slow_start,
    /// tcp_cong_avoid_ai and tcp_is_cwnd_limited).
    Acknowledged,
    /// Per acknowledgement, as TCP-FeW: 1 segment in slow start, `alpha/cwnd` after it (schemes.md 6.1).
    Fraction {
        /// Segments that congestion avoidance adds a round trip.
        alpha: f64,
        /// Slow start, too, adds `alpha/cwnd`.
        always: bool,
        /// What repeated timeouts leave of the window at least; below a segment `alpha/cwnd` is the growth.
        floor: f64,
    },
    /// The same as WiFu computes it, in whole bytes (schemes.md 5, 6): the window never falls below a segment.
    WholeBytes {
        /// Segments that congestion avoidance adds a round trip.
        alpha: f64,
        /// Slow start, too, adds `alpha/cwnd`.
        always: bool,
    },
}

/// The rules of one profile. [`Rules::NS2`] and [`Rules::RFC`] are the two complete sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The window after the handshake.
    pub initial_window: InitialWindow,
    /// The slow-start threshold before the first loss, segments; `None` is arbitrarily high (RFC 5681, section 3.1).
    pub initial_ssthresh: Option<f64>,
    /// What a loss halves.
    pub loss_basis: LossBasis,
    /// How the window opens.
    pub growth: Growth,
    /// Whether the window counts in whole segments (ns-2) or in bytes.
    pub whole_segments: bool,
    /// Whether the first two duplicates let a segment out each (RFC 3042; ns-2's `singledup_`).
    pub limited_transmit: bool,
    /// Duplicate acknowledgements that signal a loss, at least 1 (RFC 5681, section 3.2; ns-2's `numdupacks_`). The SACK parts
    /// have RFC 6675's three.
    pub duplicate_threshold: u32,
    /// NewReno: new segments an acknowledgement may let out from the third duplicate to the end of recovery, and
    /// exactly one for each of the first two duplicates; `None` leaves it to the window.
    pub recovery_burst: Option<u32>,
    /// Whether leaving recovery sets `cwnd = min(ssthresh, max(flight, 1) + 1)` (RFC 6582, section 3.2, step 3) or
    /// leaves it as it is (ns-2's `exit_recovery_fix_` 0).
    pub deflate_on_recovery_exit: bool,
    /// Whether the acknowledgement that ends recovery also opens the window (ns2-behaviour.md 6.6).
    pub grows_on_recovery_exit: bool,
    /// The window after idling for a retransmission timeout; `None` keeps it (schemes.md 16, "Restart after idle").
    pub restart_window: Option<InitialWindow>,
    /// Whether each timeout of idling halves the window, no further than to `restart_window`, and three quarters of it stay as
    /// the threshold (RFC 2861, section 3.2; Linux's tcp_cwnd_restart); else it is `restart_window` at once.
    pub restart_halves: bool,
}

impl Rules {
    /// ns-2.35 with its defaults (schemes.md 16, "Profile `ns2` in full"; ns2-behaviour.md section 6).
    pub const NS2: Self = Self {
        initial_window: InitialWindow::Segments(2.0),
        initial_ssthresh: Some(20.0),
        loss_basis: LossBasis::Window(WindowCut::Real),
        growth: Growth::PerAck,
        whole_segments: true,
        limited_transmit: true,
        duplicate_threshold: 3,
        recovery_burst: Some(2),
        deflate_on_recovery_exit: false,
        grows_on_recovery_exit: true,
        restart_window: Some(InitialWindow::Segments(1.0)), // slow_start_restart_ is on by default
        restart_halves: false,
    };

    /// RFC 5681, 6582, 3042 and 3390.
    pub const RFC: Self = Self {
        initial_window: InitialWindow::Rfc3390,
        initial_ssthresh: None,
        loss_basis: LossBasis::FlightSize,
        growth: Growth::PerAck,
        whole_segments: false,
        limited_transmit: true,
        duplicate_threshold: 3,
        recovery_burst: None,
        deflate_on_recovery_exit: true,
        grows_on_recovery_exit: false,
        restart_window: Some(InitialWindow::Rfc3390),
        restart_halves: false,
    };

    /// What WiFu's TCP does (schemes.md 5): one segment to begin with and nothing for the first duplicates.
    pub const WIFU: Self = Self {
        initial_window: InitialWindow::Segments(1.0),
        initial_ssthresh: Some(65_535.0 / 1448.0),
        loss_basis: LossBasis::FlightSize,
        growth: Growth::WholeBytes { alpha: 1.0, always: false },
        whole_segments: true,
        limited_transmit: false,
        restart_window: None,
        ..Self::RFC
    };

    /// As [`Rules::RFC`], with Linux's initial window (RFC 6928) and byte counting (RFC 3465).
    pub const LINUX: Self = Self {
        initial_window: InitialWindow::Rfc6928,
        restart_window: Some(InitialWindow::Rfc6928),
        growth: Growth::Bytes { limit: 2.0 },
        ..Self::RFC
    };
}
