//! A formula of the user's own: a Python object as a sender's control, beside that of the scheme that it builds on.
//!
//! It gets every acknowledgement and may answer with a window and an interval. The engine keeps the pacer and the window
//! part with its answers to losses; where both answer, the tighter answer holds. An object is used by one connection alone,
//! so equal runs make equal calls. Names of methods and fields are interned, so that a call builds no strings.

use crate::ack_view::AckView;
use crate::answers::{copied, first_interval, initial, or_raise, replied, segments_of, spacing};
use crate::feedback;
use meshpace_explicit::SmoothedRtt;
use meshpace_pacing::Pacer;
use meshpace_tcp::control::{Ack, Allowance, Asks, CloneControl, Control};
use meshpace_tcp::control::{Departure, Discipline, Feedback, Outstanding, Pace, PacingView, Reaction, Sent};
use meshpace_units::Instant;
use pyo3::intern;
use pyo3::prelude::*;

/// One connection's formula.
#[derive(Debug)]
pub struct Formula {
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
    /// A new object of the user's.
    pub fn new(make: &Py<PyAny>) -> Self {
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
