//! The Python extension module `meshpace._engine`: scenarios in, JSON out.
//!
//! Runs happen in threads of their own with the interpreter lock released; the calling thread looks ten times a second
//! for signals, so that Ctrl-C acts at once.

mod pool;
mod resolved;
mod trace;

use meshpace_mesh::{ENGINE, RunResult, check, run, run_with};
use meshpace_scenario::{Overrides, Scenario, ScenarioError, ScenarioFile};
use pool::{Panicked, run_all};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::thread;
use trace::Trace;

create_exception!(
    meshpace._engine,
    ScenarioRejected,
    PyValueError,
    "A scenario cannot be run; one message that names file, line, key, what was found and what is allowed."
);

/// What ends a call.
enum Failure {
    Scenario(Box<ScenarioError>),
    Panicked(String),
    Python(PyErr),
}

impl From<Box<ScenarioError>> for Failure {
    fn from(error: Box<ScenarioError>) -> Self {
        Self::Scenario(error)
    }
}

impl From<Panicked> for Failure {
    fn from(Panicked(message): Panicked) -> Self {
        Self::Panicked(message)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(error) => ScenarioRejected::new_err(error.to_string()),
            Failure::Panicked(message) => PyRuntimeError::new_err(message),
            Failure::Python(error) => error,
        }
    }
}

/// A job as Python gives it: the file's name and bytes, assignments, scheme, seed.
#[derive(FromPyObject)]
struct Job(String, Vec<u8>, Vec<String>, Option<String>, u64);

impl Job {
    fn resolve(&self) -> Result<Scenario, Box<ScenarioError>> {
        let Self(name, bytes, assignments, scheme, seed) = self;
        let none = Overrides::none();
        let overrides = scheme.iter().fold(none, Overrides::with_scheme);
        let overrides = assignments.iter().fold(overrides, Overrides::with);
        let file = ScenarioFile::parse(name, bytes, &overrides).map_err(Box::new)?;
        let scenario = file.resolve(*seed).map_err(Box::new)?;
        check(&scenario).map_err(Box::new)?;
        Ok(scenario)
    }
}

/// The result of a job as JSON.
fn finish(job: &Job) -> Result<String, Box<ScenarioError>> {
    Ok(to_json(&run(&job.resolve()?).map_err(Box::new)?))
}

/// The result of a job as JSON, with its time series.
fn finish_traced(job: &Job) -> Result<(String, Trace), Box<ScenarioError>> {
    let scenario = job.resolve()?;
    let mut trace = Trace::new(&scenario);
    let result = run_with(&scenario, &mut trace).map_err(Box::new)?;
    Ok((to_json(&result), trace))
}

fn to_json(result: &RunResult) -> String {
    serde_json::to_string(result).expect("a result has no map with keys other than strings")
}

/// Runs jobs in threads, with a look for signals and a word to `progress` in between.
fn run_jobs<T: Send + 'static>(
    py: Python<'_>,
    jobs: Vec<Job>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: fn(&Job) -> Result<T, Box<ScenarioError>>,
) -> PyResult<Vec<T>> {
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let results = run_all(jobs, threads, work, |done, wait| {
        py.check_signals().map_err(Failure::Python)?;
        if let Some(progress) = progress {
            progress.call1((done,)).map_err(Failure::Python)?;
        }
        py.detach(wait);
        Ok(())
    });
    results.map_err(|failure: Failure| failure.into())
}

/// The engine.
#[pymodule]
mod _engine {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("ScenarioError", module.py().get_type::<ScenarioRejected>())
    }

    /// The engine's version.
    #[pyfunction]
    fn version() -> &'static str {
        ENGINE
    }

    /// The JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        format!("{:#}", meshpace_scenario::schema())
    }

    /// A scenario with every default filled in and every draw of the seed made, as JSON.
    #[pyfunction]
    fn resolve(job: Job) -> PyResult<String> {
        let scenario = job.resolve().map_err(Failure::Scenario)?;
        Ok(resolved::to_json(&scenario).to_string())
    }

    /// Runs jobs, as many at a time as `threads` (all cores if `None`); results as JSON in the order of the jobs.
    #[pyfunction]
    fn run_many(
        py: Python<'_>,
        jobs: Vec<Job>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        run_jobs(py, jobs, threads, progress, finish)
    }

    /// Runs one job; its result as JSON and its time series by column: numbers as bytes of 64-bit floats, names as a list.
    #[pyfunction]
    fn run_traced<'py>(
        py: Python<'py>,
        job: Job,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(String, Bound<'py, PyDict>)> {
        let (text, trace) = run_jobs(py, vec![job], Some(1), progress, finish_traced)?.remove(0);
        let columns = PyDict::new(py);
        columns.set_item("kind", trace.kind)?;
        columns.set_item("subject", trace.subject)?;
        for (name, values) in trace.numbers {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok((text, columns))
    }
}
