//! The view of an acknowledgement that a formula gets.

use crate::feedback;
use meshpace_pacing::{LinkRates, Route};
use meshpace_tcp::control::{Ack, AckKind};
use meshpace_units::{Rate, Span};
use pyo3::prelude::*;

/// An acknowledgement as a formula sees it. Times in seconds, rates in bit/s; what is not known is None.
#[pyclass(frozen, get_all, name = "Ack")]
pub struct AckView {
    /// When it arrived.
    now: f64,
    /// `new`, `duplicate` or `other`.
    kind: &'static str,
    /// Newly acknowledged bytes; SYN and FIN count as one each.
    acked: u64,
    /// Payload of a full segment, bytes.
    mss: u32,
    /// Segments in flight after it.
    flight: f64,
    /// Round trip of the newly acknowledged segment that was sent last; None if it was sent twice.
    rtt: Option<f64>,
    /// That of the one sent first.
    rtt_oldest: Option<f64>,
    /// Time since the departure that the timestamp echoes, on duplicates too.
    echoed: Option<f64>,
    /// The wired part of the round trip, if a gateway wrote it.
    rtt_wired: Option<f64>,
    /// Wireless hops that it came over.
    hops: Option<u32>,
    /// The rates of the links, one each where they differ; one alone if all are the same.
    link_rates: Vec<u64>,
    /// A packet was marked on its way to the receiver.
    ecn_echo: bool,
    /// What relays on the way answered: a `meshpace.Feedback`.
    feedback: Option<Py<PyAny>>,
}

impl AckView {
    /// Of an acknowledgement.
    pub fn of(py: Python<'_>, ack: &Ack<'_>) -> PyResult<Self> {
        let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
        Ok(Self {
            now: ack.now.as_secs_f64(),
            kind: match ack.kind {
                AckKind::New => "new",
                AckKind::Duplicate => "duplicate",
                AckKind::Other => "other",
            },
            acked: ack.acked,
            mss: ack.mss,
            flight: ack.out.flight,
            rtt: seconds(ack.newest),
            rtt_oldest: seconds(ack.oldest),
            echoed: seconds(ack.echoed),
            rtt_wired: seconds(ack.rtt_wired),
            hops: ack.route.and_then(|route| route.hops),
            link_rates: ack.route.map_or_else(Vec::new, link_rates),
            ecn_echo: ack.ecn_echo,
            feedback: ack.feedback.map(|said| feedback::to_python(py, said)).transpose()?,
        })
    }
}

/// The rates of a route's links, bit/s.
pub fn link_rates(route: &Route) -> Vec<u64> {
    match &route.rates {
        LinkRates::Uniform(rate) => vec![rate.as_bits_per_sec()],
        LinkRates::PerLink(rates) => rates.iter().copied().map(Rate::as_bits_per_sec).collect(),
    }
}
