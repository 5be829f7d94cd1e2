//! A formula of the user's own as a receiver's acknowledgement policy: a Python object in place of the scheme's.

use crate::answers::{class_of, copied, or_raise};
use meshpace_tcp::{AckPolicy, CloneAckPolicy, InOrder, When};
use meshpace_units::{Instant, Span};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

/// A segment that arrived in order, as a formula sees it.
#[pyclass(frozen, get_all, name = "Segment")]
struct SegmentView {
    /// When it arrived, seconds.
    now: f64,
    /// Its number within the connection, from 1.
    number: u64,
    /// Bytes of the stream before it.
    offset: u64,
    /// Segments that no acknowledgement has answered yet, this one included.
    waiting: u32,
}

/// What a formula may have beside `on_segment`.
#[derive(Clone, Copy, Debug)]
struct Hears {
    disorder: bool,
    wait_over: bool,
    ack_sent: bool,
}

/// One connection's receiving end.
#[derive(Debug)]
pub struct Acknowledging {
    object: Py<PyAny>,
    hears: Hears,
}

impl Acknowledging {
    /// Of an object that `make` makes.
    pub fn new(make: &Py<PyAny>) -> Self {
        or_raise(Python::attach(|py| {
            let object = make.call0(py)?;
            let has = |name: &str| Ok::<_, PyErr>(object.bind(py).getattr_opt(name)?.is_some());
            let hears = Hears {
                disorder: has("on_disorder")?,
                wait_over: has("on_wait_over")?,
                ack_sent: has("on_ack_sent")?,
            };
            Ok(Self { object, hears })
        }))
    }

    fn tell(&self, method: &str) {
        or_raise(Python::attach(|py| self.object.bind(py).call_method0(method).map(drop)));
    }
}

/// An answer: None asks for an acknowledgement now.
fn when(object: &Bound<'_, PyAny>, answer: &Bound<'_, PyAny>) -> PyResult<When> {
    if answer.is_none() {
        return Ok(When::Now);
    }
    let part = |name: &str| {
        answer.getattr(name).map_err(|_| {
            let what = answer.get_type().qualname().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "{}.on_segment: found a {what}; allowed: meshpace.Wait(seconds, since=...) or None, which is now",
                class_of(object, "on_segment")
            ))
        })
    };
    let (seconds, since): (f64, String) = (part("seconds")?.extract()?, part("since")?.extract()?);
    let span = (seconds >= 0.0).then(|| Span::try_from_secs_f64(seconds)).flatten().ok_or_else(|| {
        PyValueError::new_err(format!(
            "{}.on_segment: found a wait of {seconds}; allowed: seconds, 0 or more",
            class_of(object, "on_segment")
        ))
    })?;
    match since.as_str() {
        "first" => Ok(When::AfterFirst(span)),
        "this" => Ok(When::AfterThis(span)),
        other => Err(PyValueError::new_err(format!(
            "{}.on_segment: found since = {other:?}; allowed: \"first\" (of those that wait), \"this\"",
            class_of(object, "on_segment")
        ))),
    }
}

impl CloneAckPolicy for Acknowledging {
    /// A connection's own: the object is copied with all it holds.
    fn clone_box(&self) -> Box<dyn AckPolicy> {
        Box::new(Self { object: copied(&self.object), hears: self.hears })
    }
}

impl AckPolicy for Acknowledging {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        let InOrder { now, number, offset, waiting } = *arrived;
        let told = SegmentView { now: now.as_secs_f64(), number, offset, waiting };
        or_raise(Python::attach(|py| {
            let object = self.object.bind(py);
            when(object, &object.call_method1(intern!(py, "on_segment"), (told,))?)
        }))
    }

    fn on_disorder(&mut self, now: Instant) {
        if self.hears.disorder {
            or_raise(Python::attach(|py| {
                self.object.bind(py).call_method1("on_disorder", (now.as_secs_f64(),)).map(drop)
            }));
        }
    }

    fn on_wait_over(&mut self) {
        if self.hears.wait_over {
            self.tell("on_wait_over");
        }
    }

    fn on_ack_sent(&mut self) {
        if self.hears.ack_sent {
            self.tell("on_ack_sent");
        }
    }
}
