//! A formula of the user's own: a Python object as a sender's control, beside that of the scheme that it builds on.
//!
//! It is told of every acknowledgement and may answer with a window and an interval. The engine keeps the pacer and the
//! window part with its answers to losses; where both answer, the tighter answer holds. An object is used by one connection
//! alone, so equal runs make equal calls. Names of methods and fields are interned, so that a call builds no strings.

use crate::acknowledging::Acknowledging;
use crate::feedback;
use crate::gateway_law::GatewayLaw;
use crate::rate::RatedFormula;
use meshpace_explicit::SmoothedRtt;
use meshpace_mesh::{AckPolicyFactory, ControlFactory, OwnControl, OwnParts, RatedFactory};
use meshpace_pacing::{LawMaker, LinkRates, Pacer, Route};
use meshpace_tcp::AckPolicy;
use meshpace_tcp::control::{Ack, AckKind, Allowance, Asks, CloneControl, Control};
use meshpace_tcp::control::{
    Departure, Discipline, Feedback, Outstanding, Pace, PacingView, Rated, Reaction, Sent,
};
use meshpace_units::{Instant, Rate, Span};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::panic::resume_unwind;
use std::sync::Arc;

/// What ends a run from inside a formula: it travels as a panic, which the hook that prints panics does not see.
pub struct Raised(pub PyErr);

/// A scheme's name, what makes the object of a connection's end or of a flow at a gateway, whether such an object decides
/// as a sender, as a receiver, and as a gateway, and whether a sender's is the rate source in place of the scheme's control.
pub type Given = (String, Py<PyAny>, bool, bool, bool, bool);

/// Factories for the formulas of a job.
pub fn factories(formulas: &[Given]) -> Vec<(String, OwnParts)> {
    let factory = |(name, make, sends, receives, paces, rated): &Given| {
        let copy = || Python::attach(|py| make.clone_ref(py));
        let control = sends.then(copy).map(|make| {
            if *rated {
                let made = move |rules, header| Rated::boxed(RatedFormula::new(&make), rules, header);
                return OwnControl::Instead(RatedFactory(Arc::new(made)));
            }
            let made = move || -> Box<dyn Control> { Box::new(Formula::new(&make)) };
            OwnControl::Beside(ControlFactory(Arc::new(made)))
        });
        let acknowledgements = receives.then(copy).map(|make| {
            let made = move || -> Box<dyn AckPolicy> { Box::new(Acknowledging::new(&make)) };
            AckPolicyFactory(Arc::new(made))
        });
        let gateway_law = paces.then(copy).map(|make| LawMaker::own(GatewayLaw::new(make)));
        (name.clone(), OwnParts { control, acknowledgements, gateway_law })
    };
    let mut made: Vec<_> = formulas.iter().map(factory).collect();
    made.sort_by(|a, b| a.0.cmp(&b.0));
    made
}

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

/// One connection's formula.
#[derive(Debug)]
struct Formula {
    object: Py<PyAny>,
    pacer: Pacer,
    /// Segments.
    window: Option<f64>,
    hears_loss: bool,
    hears_timeout: bool,
    /// Whether it asks relays.
    requests: bool,
    rtt: SmoothedRtt,
}

impl Formula {
    fn new(make: &Py<PyAny>) -> Self {
        or_raise(Python::attach(|py| Self::around(py, make.call0(py)?)))
    }

    fn around(py: Python<'_>, object: Py<PyAny>) -> PyResult<Self> {
        let bound = object.bind(py);
        let interval = first_interval(bound)?;
        let window = initial(bound, "window")?;
        let window = window.map(|segments| segments_of(bound, "__init__", segments)).transpose()?;
        let hears_loss = bound.getattr_opt("on_loss")?.is_some();
        let hears_timeout = bound.getattr_opt("on_timeout")?.is_some();
        let requests = bound.getattr_opt("request")?.is_some();
        let (pacer, rtt) = (Pacer::new(interval), SmoothedRtt::default());
        Ok(Self { pacer, window, hears_loss, hears_timeout, requests, rtt, object })
    }

    fn take(&mut self, now: Instant, method: &str, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        if answer.is_none() {
            return Ok(());
        }
        let py = answer.py();
        let bound = self.object.bind(py);
        if let Some(segments) = replied(bound, method, answer, intern!(py, "window"))? {
            self.window = Some(segments_of(bound, method, segments)?);
        }
        if let Some(seconds) = replied(bound, method, answer, intern!(py, "interval"))? {
            self.pacer.set_interval(now, spacing(bound, method, seconds)?);
        }
        Ok(())
    }

    fn call(&mut self, now: Instant, method: &str) {
        or_raise(Python::attach(|py| {
            let answer = self.object.bind(py).call_method1(method, (now.as_secs_f64(),))?;
            self.take(now, method, &answer)
        }));
    }
}

/// The class of an object, behind file and line of the method that answered.
pub fn class_of(object: &Bound<'_, PyAny>, method: &str) -> String {
    let class = object.get_type().qualname().map_or_else(|_| "a formula".to_owned(), |name| name.to_string());
    let place = || -> PyResult<String> {
        let code = object.getattr(method)?.getattr("__code__")?;
        Ok(format!("{}:{}: ", code.getattr("co_filename")?, code.getattr("co_firstlineno")?))
    };
    format!("{}{class}", place().unwrap_or_default())
}

/// A field of a `Reply`.
pub fn replied(
    object: &Bound<'_, PyAny>,
    method: &str,
    answer: &Bound<'_, PyAny>,
    field: &Bound<'_, PyString>,
) -> PyResult<Option<f64>> {
    let found = answer.getattr(field).map_err(|_| {
        let what = answer.get_type().qualname().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "{}: found a {what}; allowed: meshpace.Reply(window=..., interval=...) or None",
            class_of(object, method)
        ))
    })?;
    found.extract()
}

/// A value that an object begins with.
fn initial(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<f64>> {
    match object.getattr_opt(name)? {
        Some(value) if !value.is_none() => Ok(Some(value.extract()?)),
        _ => Ok(None),
    }
}

/// The interval that an object begins with.
pub fn first_interval(object: &Bound<'_, PyAny>) -> PyResult<Option<Span>> {
    Ok(initial(object, "interval")?
        .map(|seconds| spacing(object, "__init__", seconds))
        .transpose()?
        .flatten())
}

/// The interval of an answer that has no say about a window, as `who` cannot; None: it stays as it was.
pub fn interval_alone(
    object: &Bound<'_, PyAny>,
    method: &str,
    answer: &Bound<'_, PyAny>,
    who: &str,
) -> PyResult<Option<Option<Span>>> {
    if answer.is_none() {
        return Ok(None);
    }
    let py = answer.py();
    if replied(object, method, answer, intern!(py, "window"))?.is_some() {
        let class = class_of(object, method);
        let message = format!(
            "{class}.{method}: found a window; allowed: an interval alone, since {who} sets no window"
        );
        return Err(PyValueError::new_err(message));
    }
    let seconds = replied(object, method, answer, intern!(py, "interval"))?;
    seconds.map(|seconds| spacing(object, method, seconds)).transpose()
}

/// A copy of an object with all it holds, for a connection of its own.
pub fn copied(object: &Py<PyAny>) -> Py<PyAny> {
    or_raise(Python::attach(|py| Ok(py.import("copy")?.call_method1("deepcopy", (object,))?.unbind())))
}

/// An interval; none for zero seconds: nothing is held back.
pub fn spacing(object: &Bound<'_, PyAny>, method: &str, seconds: f64) -> PyResult<Option<Span>> {
    let span = (seconds >= 0.0).then(|| Span::try_from_secs_f64(seconds)).flatten().ok_or_else(|| {
        PyValueError::new_err(format!(
            "{}.interval: found {seconds}; allowed: seconds, 0 (no pacing) or more",
            class_of(object, method)
        ))
    })?;
    Ok((!span.is_zero()).then_some(span))
}

fn segments_of(object: &Bound<'_, PyAny>, method: &str, segments: f64) -> PyResult<f64> {
    if segments > 0.0 && segments.is_finite() {
        return Ok(segments);
    }
    let message =
        format!("{}.window: found {segments}; allowed: segments, a number above 0", class_of(object, method));
    Err(PyValueError::new_err(message))
}

/// The value; an exception ends the run.
pub fn or_raise<T>(result: PyResult<T>) -> T {
    result.unwrap_or_else(|error| resume_unwind(Box::new(Raised(error))))
}

impl CloneControl for Formula {
    /// A connection's own: the object is copied with all it holds.
    fn clone_box(&self) -> Box<dyn Control> {
        Box::new(Self {
            object: copied(&self.object),
            pacer: self.pacer.clone(),
            window: self.window,
            hears_loss: self.hears_loss,
            hears_timeout: self.hears_timeout,
            requests: self.requests,
            rtt: self.rtt,
        })
    }
}

impl Control for Formula {
    fn asks(&self) -> Asks {
        let relays = self.requests.then_some(0);
        Asks { round_trips: true, route: true, relays, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest.filter(|_| self.requests) {
            self.rtt.on_sample(rtt);
        }
        or_raise(Python::attach(|py| {
            let answer =
                self.object.bind(py).call_method1(intern!(py, "on_ack"), (AckView::of(py, ack)?,))?;
            self.take(ack.now, "on_ack", &answer)
        }));
        Reaction::Continue
    }

    fn request(&self, _: u32) -> Option<Feedback> {
        if !self.requests {
            return None;
        }
        or_raise(Python::attach(|py| feedback::requested(self.object.bind(py), self.rtt.seconds())))
    }

    fn on_loss(&mut self) {
        if self.hears_loss {
            or_raise(Python::attach(|py| self.object.bind(py).call_method0("on_loss").map(drop)));
        }
    }

    fn on_timeout(&mut self, now: Instant, _out: &Outstanding) {
        if self.hears_timeout {
            self.call(now, "on_timeout");
        }
    }

    fn on_departure(&mut self, departure: &Departure) {
        // As the engine's own pacing parts: data take the token, a SYN does not (schemes.md section 2, edge cases).
        if matches!(departure.sent, Sent::Data { .. }) {
            self.pacer.on_departure(departure.token);
        }
    }

    fn window(&self, mss: u32, _new_data: bool) -> Option<Allowance> {
        let bytes = self.window? * f64::from(mss);
        Some(Allowance { bytes: bytes as u64, extension: 0 })
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        let interval = self.pacer.interval()?;
        Some(Pace { release: self.pacer.release_at(now), interval, discipline: Discipline::Permission })
    }

    fn cwnd(&self) -> Option<f64> {
        self.window
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
