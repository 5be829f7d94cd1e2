//! What methods of a user's object answer, read and refused; what they raise ends the run.

use meshpace_units::Span;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::panic::resume_unwind;

/// What ends a run from inside a formula: it travels as a panic, which the hook that prints panics does not see.
pub struct Raised(pub PyErr);

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
pub fn initial(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<f64>> {
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

/// A window of an answer, segments.
pub fn segments_of(object: &Bound<'_, PyAny>, method: &str, segments: f64) -> PyResult<f64> {
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
