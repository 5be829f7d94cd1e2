//! The Python extension module `meshpace._engine`: scenarios in, JSON out.
//!
//! Runs happen in threads of their own with the interpreter lock released; the calling thread looks ten times a second
//! for signals, so that Ctrl-C acts at once.

mod ack_view;
mod acknowledging;
mod answers;
#[cfg(target_os = "linux")]
mod emulate;
mod feedback;
mod formula;
mod gateway_law;
mod links;
mod own_parts;
mod pool;
mod rate;
mod resolved;
mod stamp;
mod tables;

use answers::Raised;
use meshpace_mesh::{
    Chosen, ENGINE, Film, Only, OwnParts, Series, check, check_with_parts, parameters_in_use, run_why,
    run_with_parts,
};
use meshpace_network::{Capture, NoWatch};
use meshpace_scenario::{About, Overrides, Scenario, ScenarioError as Rejection, ScenarioFile};
use meshpace_units::{Bytes, Instant, Span};
use pool::{Panicked, run_all};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::thread;

create_exception!(
    meshpace._engine,
    ScenarioError,
    PyValueError,
    "A scenario cannot be run; one message that names file, line, key, what was found and what is allowed."
);

/// What ends a call.
enum Failure {
    Scenario(Box<Rejection>),
    Capture(io::Error),
    Panicked(String),
    Python(PyErr),
}

impl From<Rejection> for Failure {
    fn from(error: Rejection) -> Self {
        Self::Scenario(Box::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Capture(error)
    }
}

impl From<Panicked> for Failure {
    fn from(Panicked(message): Panicked) -> Self {
        Self::Panicked(message)
    }
}

/// With the number that says why; the caller knows the file.
fn capture_failed(error: io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, "packet capture")),
        None => PyOSError::new_err(format!("packet capture: {error}")),
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(error) => ScenarioError::new_err(error.to_string()),
            Failure::Capture(error) => capture_failed(error),
            Failure::Panicked(message) => PyRuntimeError::new_err(message),
            Failure::Python(error) => error,
        }
    }
}

/// A job as Python gives it: the file's name and bytes, assignments, scheme, seed.
#[derive(FromPyObject)]
struct Job(String, Vec<u8>, Vec<String>, Option<String>, u64);

impl Job {
    fn overrides(&self) -> Overrides {
        let Self(_, _, assignments, scheme, _) = self;
        let overrides = scheme.iter().fold(Overrides::none(), Overrides::with_scheme);
        assignments.iter().fold(overrides, Overrides::with)
    }

    fn resolve(&self) -> Result<Scenario, Failure> {
        let Self(name, bytes, _, _, seed) = self;
        Ok(ScenarioFile::parse(name, bytes, &self.overrides())?.resolve(*seed)?)
    }
}

/// A job with its formulas; most jobs have none.
#[derive(FromPyObject)]
struct Formulated(Job, Vec<own_parts::Given>);

impl Formulated {
    /// Does something with the scenario and its formulas' parts; what a formula raises ends it.
    fn with_parts<T>(
        &self,
        work: impl FnOnce(&Scenario, &Parts) -> Result<T, Failure> + Send,
    ) -> Result<T, Failure>
    where
        T: Send,
    {
        let Self(job, formulas) = self;
        let scenario = job.resolve()?;
        if formulas.is_empty() {
            return work(&scenario, &[]);
        }
        let parts = own_parts::factories(formulas);
        // The thread stays known to the interpreter for as long as the run lasts: made known anew at each call, calls cost
        // several times as much.
        let known = || Python::attach(|py| py.detach(|| work(&scenario, &parts)));
        match catch_unwind(AssertUnwindSafe(known)) {
            Ok(done) => done,
            Err(panic) => match panic.downcast::<Raised>() {
                Ok(raised) => Err(Failure::Python(raised.0)),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

/// Parts of the caller's, by the names of their schemes.
type Parts = [(String, OwnParts)];

/// The result of a job as JSON.
fn finish(job: &Formulated) -> Result<String, Failure> {
    job.with_parts(|scenario, parts| {
        Ok(stamp::to_json(&run_with_parts(scenario, parts, &mut NoWatch)?, scenario)?)
    })
}

/// A packet capture: where it goes, and the nodes and the flows that it is of; none is all.
#[derive(FromPyObject)]
struct Captured(PathBuf, Vec<String>, Vec<String>);

/// A job that is watched while it runs: its time series wanted or not, and a packet capture.
struct Watched(Formulated, bool, Option<Captured>);

/// The result of a watched job as JSON, with its time series.
fn finish_watched(Watched(job, series, capture): &Watched) -> Result<(String, Option<Series>), Failure> {
    job.with_parts(|scenario, parts| {
        // Refuse before the file is there.
        check_with_parts(scenario, parts)?;
        let series = series.then(|| Series::new(scenario));
        let capture = match capture {
            Some(Captured(path, nodes, flows)) => {
                let chosen = Chosen::by_name(scenario, nodes, flows).map_err(|name| {
                    Failure::Python(PyValueError::new_err(format!("{name}: neither node nor flow")))
                })?;
                Some(Only::new(Capture::new(File::create(path)?, scenario), chosen))
            }
            None => None,
        };
        let mut probe = (series, capture);
        let result = run_with_parts(scenario, parts, &mut probe)?;
        let (series, capture) = probe;
        capture.map(|only| only.into_inner().finish()).transpose()?;
        Ok((stamp::to_json(&result, scenario)?, series))
    })
}

/// The result of a job as JSON, and what its flows lost, as JSON.
fn finish_why(job: &Formulated) -> Result<(String, String), Failure> {
    job.with_parts(|scenario, parts| {
        let (result, losses) = run_why(scenario, parts)?;
        let losses = serde_json::to_string(&losses).expect("every key is a string");
        Ok((stamp::to_json(&result, scenario)?, losses))
    })
}

/// A job that is filmed: from when, how long, how many frames at the most.
struct Filmed(Formulated, Instant, Span, usize);

/// The result of a filmed job and its film, as JSON.
fn finish_filmed(Filmed(job, begin, length, frames): &Filmed) -> Result<(String, String), Failure> {
    job.with_parts(|scenario, parts| {
        let mut film = Film::new(scenario, *begin, *length, *frames);
        let result = run_with_parts(scenario, parts, &mut film)?;
        Ok((stamp::to_json(&result, scenario)?, film.to_json().to_string()))
    })
}

/// Runs jobs in threads, with a look for signals and a word to `progress` in between.
fn run_jobs<J: Send + Sync + 'static, T: Send + 'static>(
    py: Python<'_>,
    jobs: Vec<J>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: fn(&J) -> Result<T, Failure>,
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
    results.map_err(PyErr::from)
}

/// The engine.
#[pymodule]
mod _engine {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("ScenarioError", module.py().get_type::<ScenarioError>())
    }

    /// The engine's version.
    #[pyfunction]
    fn version() -> &'static str {
        ENGINE
    }

    /// The engine's fingerprint: equal for engines whose results are equal.
    #[pyfunction]
    fn fingerprint() -> &'static str {
        stamp::FINGERPRINT
    }

    /// Every scheme that a job uses with all its parameters as they act, as JSON; they do not depend on the seed.
    ///
    /// It asks in a thread of its own. What that allocates is free for the thread of a run when it has ended: glibc keeps
    /// memory by thread, and a large mesh's file as it was resolved would lie beside the run, a third of a kilobyte a node.
    #[pyfunction]
    fn schemes_in_use(py: Python<'_>, job: Job) -> PyResult<String> {
        let found = py.detach(|| {
            let asking = || parameters_in_use(&job.resolve()?).map_err(Failure::from);
            thread::scope(|scope| scope.spawn(asking).join()).unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        Ok(serde_json::to_string(&found).expect("every key is a string"))
    }

    /// The tables that ingress throttling goes by, as they ship: critical loads and load correction factors, as CSV.
    #[pyfunction]
    fn throttle_tables() -> (&'static str, &'static str) {
        (meshpace_mesh::CRITICAL_LOADS, meshpace_mesh::LOAD_CORRECTIONS)
    }

    /// The JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        format!("{:#}", meshpace_mesh::schema())
    }

    /// What the scenario file `name` says that it is: its description and its source, empty where it says none.
    #[pyfunction]
    fn about(name: &str, text: &[u8]) -> PyResult<(String, String)> {
        let about = About::parse(name, text).map_err(Failure::from)?;
        Ok((about.description.unwrap_or_default(), about.source.unwrap_or_default()))
    }

    /// The table of schemes with all their parameters, as JSON.
    #[pyfunction]
    fn schemes() -> String {
        tables::schemes().to_string()
    }

    /// The table of routing protocols, each in all its profiles, as JSON.
    #[pyfunction]
    fn routings() -> String {
        tables::routings().to_string()
    }

    /// A scenario with every default filled in and every draw of the seed made, as JSON.
    #[pyfunction]
    fn resolve(job: Job) -> PyResult<String> {
        let scenario = job.resolve()?;
        check(&scenario).map_err(Failure::from)?;
        Ok(resolved::to_json(&scenario).map_err(Failure::from)?.to_string())
    }

    /// Runs jobs, as many at a time as `threads` (all cores if `None`); results as JSON in the order of the jobs.
    #[pyfunction]
    fn run_many(
        py: Python<'_>,
        jobs: Vec<Formulated>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        run_jobs(py, jobs, threads, progress, finish)
    }

    /// What a capture in monitor mode says of the links in it, as JSON. Busy time counts over `window_s`, and capacities come
    /// from packets of `min_bytes` and more.
    #[pyfunction]
    fn winf(py: Python<'_>, path: PathBuf, window_s: f64, min_bytes: u64) -> PyResult<String> {
        let window = Span::try_from_secs_f64(window_s).filter(|window| !window.is_zero());
        let window = window
            .ok_or_else(|| PyValueError::new_err(format!("window_s = {window_s}: seconds, above 0")))?;
        py.detach(|| {
            links::of_capture(&path, &meshpace_monitor::Options { window, least_payload: Bytes(min_bytes) })
        })
    }

    /// Runs one job; its result and what its flows lost, where and why, as JSON.
    #[pyfunction]
    fn why(
        py: Python<'_>,
        job: Formulated,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, String)> {
        Ok(run_jobs(py, vec![job], Some(1), progress, finish_why)?.remove(0))
    }

    /// Everything that is wrong with a job's scenario, a message each; empty if it can be run.
    #[pyfunction]
    fn complaints(job: Formulated) -> Vec<String> {
        let found = ScenarioFile::complaints(&job.0.0, &job.0.1, &job.0.overrides());
        if !found.is_empty() {
            return found.iter().map(ToString::to_string).collect();
        }
        let whole = job.with_parts(|scenario, parts| Ok(check_with_parts(scenario, parts)?));
        match whole {
            Err(Failure::Scenario(error)) => vec![error.to_string()],
            _ => Vec::new(),
        }
    }

    /// Emulates a job whose real hosts are `hosts`, each a node's id, the network namespace that is there for it, and whether
    /// its devices carry Ethernet frames, and gives the result as JSON. Seconds take `dilation` of the clock's; a packet capture goes to the file `capture`,
    /// lines for a live view to the file `view`.
    ///
    /// Calls `tell` with "ready" once the devices are there, and with "over" when time has come to its end. Time 0 is when
    /// standard input can be read then; once it has ended, so has the emulation. The calling thread becomes a real-time one:
    /// this is for a process of its own.
    #[cfg(target_os = "linux")]
    #[pyfunction]
    #[pyo3(signature = (job, hosts, dilation, capture, tell, view = None))]
    fn emulate(
        py: Python<'_>,
        job: Job,
        hosts: Vec<(String, String, bool)>,
        dilation: f64,
        capture: Option<PathBuf>,
        tell: Py<PyAny>,
        view: Option<PathBuf>,
    ) -> PyResult<String> {
        let (capture, view) = (capture.as_deref(), view.as_deref());
        py.detach(|| crate::emulate::emulate(&job, &hosts, dilation, capture, view, &tell))
    }

    /// Runs one job; its result and, as JSON as well, what was on the air from `begin_s` on for `length_s` or until
    /// `frames` were sent.
    #[pyfunction]
    fn film(
        py: Python<'_>,
        job: Formulated,
        begin_s: f64,
        length_s: f64,
        frames: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, String)> {
        let span = |name: &str, s: f64| {
            let wrong = || PyValueError::new_err(format!("{name} = {s}: seconds, 0 or more"));
            Span::try_from_secs_f64(s).ok_or_else(wrong)
        };
        let begin = Instant::ZERO + span("begin_s", begin_s)?;
        let filmed = vec![Filmed(job, begin, span("length_s", length_s)?, frames)];
        Ok(run_jobs(py, filmed, Some(1), progress, finish_filmed)?.remove(0))
    }

    /// Runs one job; its result as JSON and, if `series`, its time series by column: numbers as bytes of little-endian
    /// 64-bit floats, names as a list. A packet capture goes to a file: `capture` is its path, and the names of the nodes and of the
    /// flows whose frames it is to have, all if none.
    #[pyfunction]
    fn run_watched<'py>(
        py: Python<'py>,
        job: Formulated,
        series: bool,
        capture: Option<Captured>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(String, Option<Bound<'py, PyDict>>)> {
        let watched = vec![Watched(job, series, capture)];
        let (text, series) = run_jobs(py, watched, Some(1), progress, finish_watched)?.remove(0);
        let Some(series) = series else { return Ok((text, None)) };
        let columns = PyDict::new(py);
        columns.set_item("kind", series.kinds().collect::<Vec<_>>())?;
        columns.set_item("name", series.names().collect::<Vec<_>>())?;
        for (name, values) in series.columns() {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok((text, Some(columns)))
    }
}
