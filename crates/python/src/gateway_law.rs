//! A formula of the user's own as the law of a gateway: a Python object for each flow into the mesh.

use crate::ack_view::link_rates;
use crate::answers::{copied, interval_alone, or_raise};
use meshpace_pacing::{FlowLaw, FlowPace, Progress, RoundTrip};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A wireless round trip as a formula sees it. Times in seconds, rates in bit/s; what is not known is None.
#[pyclass(frozen, get_all)]
struct Trip {
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
    /// Flows that share the law and have data on their way, this one included: 1 but with `gap_state = "host"`.
    sharing: u32,
}

/// What became of a flow's packets, as a formula sees it.
#[pyclass(frozen, get_all, name = "Progress")]
struct Became {
    /// When the gateway learnt of it, seconds.
    now: f64,
    /// Bytes newly acknowledged.
    acked: u64,
    /// Segments that their sender or the gateway sent again since the last call.
    again: u64,
    /// The receiver says that a packet was marked.
    marked: bool,
}

/// One flow's law; without an object what those of new flows are made of.
#[derive(Debug)]
pub struct GatewayLaw {
    make: Py<PyAny>,
    object: Option<Py<PyAny>>,
    hears_progress: bool,
}

impl GatewayLaw {
    /// Of objects that `make` makes.
    pub fn new(make: Py<PyAny>) -> Self {
        Self { make, object: None, hears_progress: false }
    }

    /// The object gets the report by one of its methods. An answer of None leaves the pace as it is.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        told: impl IntoPyObject<'py>,
    ) -> Option<FlowPace> {
        let answered = || {
            let object = self.object.as_ref().expect("a flow's law has its object").bind(py);
            let answer = object.call_method1(method, (told,))?;
            let interval = interval_alone(object, method.to_str()?, &answer, "a gateway's law in Python")?;
            Ok(interval.map(|spacing| FlowPace { spacing, ..FlowPace::UNPACED }))
        };
        or_raise(answered())
    }
}

impl FlowLaw for GatewayLaw {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        let told = Trip {
            now: trip.now.as_secs_f64(),
            rtt: trip.rtt.as_secs_f64(),
            mss: trip.segment.0,
            hops: trip.route.hops,
            link_rates: link_rates(trip.route),
            sharing: trip.sharing,
        };
        Python::attach(|py| self.tell(py, intern!(py, "on_round_trip"), told))
    }

    fn on_progress(&mut self, progress: &Progress) -> Option<FlowPace> {
        if !self.hears_progress {
            return None;
        }
        let Progress { now, acked, again, marked } = *progress;
        let told = Became { now: now.as_secs_f64(), acked: acked.0, again, marked };
        Python::attach(|py| self.tell(py, intern!(py, "on_progress"), told))
    }

    /// A class has no parameters but its own.
    fn take_parameters(&mut self, _: &dyn FlowLaw) -> bool {
        false
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        or_raise(Python::attach(|py| {
            let make = self.make.clone_ref(py);
            let object = match &self.object {
                Some(object) => copied(object),
                None => make.call0(py)?,
            };
            let hears_progress = object.bind(py).getattr_opt(intern!(py, "on_progress"))?.is_some();
            Ok(Box::new(Self { make, object: Some(object), hears_progress }) as Box<dyn FlowLaw>)
        }))
    }
}
