//! The emulator for Python.

use crate::stamp::Stamped;
use crate::{Failure, Job};
use meshpace_emulator::{
    Failure as Refusal, FramesResult, Options, Outcome, RealHost, Scheduling, Stage, TrafficResult, Verdict,
    run,
};
use meshpace_scenario::{Endpoint, Layer, Scenario, WiredId};
use meshpace_units::NodeId;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// The result of a run, and what an emulation adds.
#[derive(Serialize)]
struct Emulated<'a> {
    #[serde(flatten)]
    stamped: Stamped<'a>,
    dilation: f64,
    lateness: &'a Verdict,
    #[serde(flatten)]
    scheduling: &'a Scheduling,
    traffic: &'a [TrafficResult],
    ethernet: &'a [FramesResult],
}

pub fn emulate(
    job: &Job,
    hosts: &[(String, String, bool)],
    dilation: f64,
    capture: Option<&Path>,
    view: Option<&Path>,
    tell: &Py<PyAny>,
) -> PyResult<String> {
    if !(dilation >= 1.0 && dilation.is_finite()) {
        return Err(PyValueError::new_err(format!("dilation = {dilation}: a number from 1 on")));
    }
    let scenario = job.resolve()?;
    meshpace_mesh::check(&scenario).map_err(Failure::from)?;
    let hosts = hosts.iter().map(|(id, namespace, frames)| {
        let node = node(&scenario, id).ok_or_else(|| PyValueError::new_err(format!("no node {id:?}")))?;
        let layer = match (frames, node) {
            (false, _) => Layer::Packets,
            (true, Endpoint::Mesh(_)) => Layer::Frames,
            (true, Endpoint::Wired(_)) => return Err(PyValueError::new_err(format!("{id:?} has no radio"))),
        };
        Ok(RealHost { node, namespace: namespace.clone(), layer })
    });
    let hosts = hosts.collect::<PyResult<Vec<_>>>()?;
    let capture = capture.map(File::create).transpose()?;
    let view = view.map(|path| File::options().write(true).open(path)).transpose()?;
    // Not through the standard library's buffer: what is read must be gone from the descriptor that is waited for.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let options = Options { scenario: &scenario, hosts: &hosts, dilation, capture, view };
    let mut call = |stage| {
        let word = match stage {
            Stage::Ready => "ready",
            Stage::Over => "over",
        };
        Python::attach(|py| tell.call1(py, (word,))).map(drop).map_err(io::Error::other)
    };
    let outcome = run(options, &mut input, &mut call).map_err(|failure| match failure {
        Refusal::Scenario(error) => Failure::Scenario(error).into(),
        Refusal::Kernel(error) => PyErr::from(error),
        // Errors are words, because they go to another process.
        Refusal::Capture(error) => PyOSError::new_err(format!("packet capture: {error}")),
    })?;
    let Outcome { result, lateness, traffic, frames, scheduling } = outcome;
    let stamped = Stamped::new(&result, &scenario).map_err(Failure::from)?;
    let emulated = Emulated {
        stamped,
        dilation,
        lateness: &lateness,
        scheduling: &scheduling,
        traffic: &traffic,
        ethernet: &frames,
    };
    Ok(serde_json::to_string(&emulated).expect("a result has no map with keys other than strings"))
}

fn node(scenario: &Scenario, id: &str) -> Option<Endpoint> {
    let mesh = scenario.mesh.iter().position(|node| node.id == id);
    let wired = || scenario.wired.iter().position(|node| node.id == id);
    let of_mesh = mesh.map(|index| Endpoint::Mesh(NodeId::from_index(index)));
    of_mesh.or_else(|| wired().map(|index| Endpoint::Wired(WiredId(index as u32))))
}
