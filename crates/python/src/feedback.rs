//! What a formula asks of relays, and what they answer.

use meshpace_tcp::control::Feedback;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

use crate::answers::class_of;

/// A `meshpace.Feedback` of the same kind and bytes.
pub fn to_python(py: Python<'_>, said: &Feedback) -> PyResult<Py<PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "meshpace.formula", "Feedback")?;
    Ok(class.call1((said.kind(), PyBytes::new(py, said.bytes())))?.unbind())
}

/// What `request(rtt)` asks: a `meshpace.Feedback`, or None for nothing.
pub fn requested(object: &Bound<'_, PyAny>, rtt: Option<f64>) -> PyResult<Option<Feedback>> {
    let answer = object.call_method1(pyo3::intern!(object.py(), "request"), (rtt,))?;
    if answer.is_none() {
        return Ok(None);
    }
    let parts = answer.getattr("kind").and_then(|kind| Ok((kind, answer.getattr("bytes")?)));
    let (kind, bytes) = parts.map_err(|_| {
        let what = answer.get_type().qualname().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        let class = class_of(object, "request");
        PyTypeError::new_err(format!(
            "{class}.request: found a {what}; allowed: meshpace.Feedback(kind, bytes) or None"
        ))
    })?;
    let (kind, bytes): (u8, Vec<u8>) = (kind.extract()?, bytes.extract()?);
    let found = Feedback::new(kind, &bytes).ok_or_else(|| {
        let class = class_of(object, "request");
        PyValueError::new_err(format!(
            "{class}.request: found {} bytes; allowed: {} at the most",
            bytes.len(),
            Feedback::MAX
        ))
    })?;
    Ok(Some(found))
}
