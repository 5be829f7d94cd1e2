//! A formula of the user's own as the law of a gateway: a Python object for each flow into the mesh.

use crate::formula::{interval_alone, link_rates, or_raise};
use meshpace_gateway::{OwnLaw, Spacing, WirelessTrip};
use pyo3::intern;
use pyo3::prelude::*;

/// A wireless round trip as a formula sees it. Times in seconds, rates in bit/s; what is not known is None.
#[pyclass(frozen, get_all, name = "Trip")]
struct Told {
    /// When its acknowledgement came to the gateway.
    now: f64,
    /// From the segment's departure at the gateway to its acknowledgement there.
    rtt: f64,
    /// Payload of a full segment, bytes.
    mss: u64,
    /// Wireless hops to the flow's host.
    hops: Option<u32>,
    /// The rates of the links, one each where they differ; one alone if all are the same.
    link_rates: Vec<u64>,
}

/// One flow's law.
#[derive(Debug)]
pub struct GatewayLaw {
    object: Py<PyAny>,
}

impl GatewayLaw {
    /// Of an object that `make` makes.
    pub fn new(make: &Py<PyAny>) -> Self {
        Self { object: or_raise(Python::attach(|py| make.call0(py))) }
    }
}

/// An answer: None leaves the pace as it is.
fn answered(object: &Bound<'_, PyAny>, answer: &Bound<'_, PyAny>) -> PyResult<Spacing> {
    let interval = interval_alone(object, "on_round_trip", answer, "a gateway")?;
    Ok(interval.map_or(Spacing::AsBefore, |interval| interval.map_or(Spacing::Unpaced, Spacing::Every)))
}

impl OwnLaw for GatewayLaw {
    fn on_round_trip(&mut self, trip: &WirelessTrip<'_>) -> Spacing {
        let told = Told {
            now: trip.now.as_secs_f64(),
            rtt: trip.rtt.as_secs_f64(),
            mss: trip.segment.0,
            hops: trip.route.hops,
            link_rates: link_rates(trip.route),
        };
        or_raise(Python::attach(|py| {
            let object = self.object.bind(py);
            answered(object, &object.call_method1(intern!(py, "on_round_trip"), (told,))?)
        }))
    }
}
