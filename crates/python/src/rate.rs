//! A formula of the user's own as a sender's rate: a Python object in place of the control of the scheme that it builds on.
//!
//! The engine paces at its interval and sends again at that pace what is lost ([`Rated`](meshpace_tcp::control::Rated)).

use crate::ack_view::AckView;
use crate::answers::{copied, first_interval, interval_alone, or_raise};
use crate::feedback;
use meshpace_tcp::control::{Ack, Feedback, RateSource};
use meshpace_units::{Instant, Span};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// One connection's rate.
#[derive(Debug)]
pub struct RatedFormula {
    object: Py<PyAny>,
    interval: Option<Span>,
    requests: bool,
    hears_timeout: bool,
    hears_departure: bool,
}

impl RatedFormula {
    /// Of an object that `make` makes.
    pub fn new(make: &Py<PyAny>) -> Self {
        or_raise(Python::attach(|py| {
            let object = make.call0(py)?;
            let bound = object.bind(py);
            let has = |name: &str| Ok::<_, PyErr>(bound.getattr_opt(name)?.is_some());
            Ok(Self {
                interval: first_interval(bound)?,
                requests: has("request")?,
                hears_timeout: has("on_timeout")?,
                hears_departure: has("on_departure")?,
                object,
            })
        }))
    }

    fn call<'py>(
        &mut self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        told: impl IntoPyObject<'py>,
    ) -> PyResult<()> {
        let object = self.object.bind(py);
        let answer = object.call_method1(method, (told,))?;
        if let Some(interval) = interval_alone(object, method.to_str()?, &answer, "a rate")? {
            self.interval = interval;
        }
        Ok(())
    }
}

impl Clone for RatedFormula {
    /// A connection's own: the object is copied with all it holds.
    fn clone(&self) -> Self {
        Self { object: copied(&self.object), ..*self }
    }
}

impl RateSource for RatedFormula {
    fn request(&self, rtt: Option<f64>) -> Option<Feedback> {
        if !self.requests {
            return None;
        }
        or_raise(Python::attach(|py| feedback::requested(self.object.bind(py), rtt)))
    }

    fn interval(&self) -> Option<Span> {
        self.interval
    }

    fn asks_route(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        or_raise(Python::attach(|py| {
            let told = AckView::of(py, ack)?;
            self.call(py, intern!(py, "on_ack"), told)
        }));
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.hears_timeout {
            or_raise(Python::attach(|py| self.call(py, intern!(py, "on_timeout"), now.as_secs_f64())));
        }
    }

    fn on_departure(&mut self, now: Instant) {
        if self.hears_departure {
            or_raise(Python::attach(|py| self.call(py, intern!(py, "on_departure"), now.as_secs_f64())));
        }
    }
}
