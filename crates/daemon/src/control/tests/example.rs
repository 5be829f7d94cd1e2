//! Made-up flows and snapshots for tests.

use crate::config::HopSource;
use crate::control::protocol::{Detail, Flow, Law, Policy, Standing, Step};
use crate::state::{DriverCounters, FlowReport, Snapshot, Traffic};
use meshpace_gateway::{Counters, Endpoint, FlowKey, FlowStats, Goodput, RoundTrips, Treatment, Waits};
use meshpace_linux::monotonic_now;
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::net::Ipv4Addr;

/// How long a busy machine may take for what a quiet one does at once.
pub(crate) const PATIENCE: Span = Span::from_secs(60);

/// Waits until nobody accepts connections any more. A program that another test starts just now holds a copy of the closed
/// socket until it has replaced itself.
pub(crate) fn wait_until_closed<S>(connect: impl Fn() -> std::io::Result<S>) {
    let end = monotonic_now() + PATIENCE;
    while connect().is_ok() {
        assert!(monotonic_now() < end, "somebody still listens");
    }
}

/// A flow to the mesh as it is listed.
pub(crate) fn flow() -> Flow {
    Flow {
        flow: "10.1.2.3:5001-93.184.216.34:443".into(),
        wireless: "10.1.2.3:5001".into(),
        wired: "93.184.216.34:443".into(),
        direction: "down".into(),
        treatment: "pace".into(),
        paced: true,
        outstanding: true,
        hops: Some(4),
        hop_source: "ttl".into(),
        link_rate_bps: 2_000_000,
        wireless_rtt_s: Some(0.040),
        wired_rtt_s: None,
        goodput_bps: Some(262_000),
        goodput_down_bps: Some(262_000),
        goodput_up_bps: None,
        goodput_error: None,
        interval_s: Some(0.044),
        rate_bps: Some(265_454),
        cap_pps: None,
        variation: 1.0 / 6.0,
        queued: 3,
        buffered_bytes: 4_500,
        drops: 0,
        wait_s: Some(0.021),
        window_bytes: Some(14_600),
        duplicates: 4,
        aqm_drops: 2,
        aqm_marks: 1,
        local_retransmissions: 1,
        options_written: 0,
        samples: 120,
        samples_rejected: 2,
        down_bytes: 1_500_000,
        up_bytes: 40_000,
        down_packets: 1_000,
        up_packets: 1_000,
        age_s: 75.0,
        idle_s: 0.01,
    }
}

/// The smoothing vector of schemes.md section 2 (FHD_hat 30 ms, FHD 40 ms) with the variation vector (10, 12, 14 ms).
pub(crate) fn detail() -> Detail {
    Detail {
        flow: flow(),
        policy: Policy { mode: "pace".into(), paced_share: 0.5, draw: 0.25 },
        segment_bytes: 1460,
        law: Some(Law {
            alpha: 0.7,
            n: 4,
            variation_measure: "cov".into(),
            sampled: "round-trip".into(),
            delay_bound_s: Some(0.5),
            history_s: vec![0.010, 0.012, 0.014],
            history_max: 50,
            mean_s: Some(0.012),
            variation: 1.0 / 6.0,
            last: Some(Step {
                rtt_s: 0.056_64,
                hops: 4,
                hops_known: true,
                k: 4,
                data_bits: 12_224,
                ack_bits: 544,
                link_rates_bps: vec![2_000_000],
                queueing_s: 0.003_888,
                k_hop_delay_s: 0.040,
                smoothed_before_s: Some(0.030),
            }),
            smoothed_s: Some(0.033),
            interval_s: Some(0.044),
            unreliable: 0,
        }),
        other_law: None,
        goodput_control: Some(Standing {
            interval_s: 5.0,
            threshold: 1.1,
            goodput_bps: Some(240_000.0),
            mean_bps: Some(240_000.0),
            active: 2,
            cap_interval_s: None,
            capped_runs: None,
            left_alone_runs: None,
        }),
        forecast: None,
        forecasts: None,
    }
}

/// What [`Running`] foretells of each flow that is only watched: 1,460 bytes each 2.92 ms, 4 Mbit/s.
pub(crate) const FORECAST: meshpace_gateway::Forecast = meshpace_gateway::Forecast {
    interval: Span::from_micros(2_920),
    base: Span::from_millis(20),
    sharing: 1,
};

/// When [`snapshot`] is taken.
pub(crate) fn now() -> Instant {
    Instant::ZERO + Span::from_secs(100)
}

/// A flow of host 10.1.2.`host` that has got `kbit_s` over the latest seconds.
pub(crate) fn report(host: u8, kbit_s: u64) -> FlowReport {
    let since = now() - Span::from_secs(4);
    let mut goodput = Goodput::new(since);
    goodput.on_acked(since, Bytes(kbit_s * 500));
    let end = |address: [u8; 4], port| Endpoint { address: Ipv4Addr::from(address).into(), port };
    FlowReport {
        stats: FlowStats {
            key: FlowKey { wireless: end([10, 1, 2, host], 5001), wired: end([192, 0, 2, 1], 443) },
            up: false,
            down: true,
            outstanding: true,
            interval: Some(Span::from_millis(10)),
            k_hop_delay: Some(0.010),
            variation: 0.0,
            cap: None,
            paced: true,
            queued: 0,
            buffered: Bytes::ZERO,
            drops: 0,
            duplicates: 0,
            aqm_drops: 0,
            aqm_marks: 0,
            wait: Some(Span::from_millis(12)),
            window: None,
            local_retransmissions: 0,
            samples: (7, 0),
            wireless_rtt: Some(Span::from_millis(40)),
            wired_rtt: None,
            options_written: 0,
            goodput_down: Some(goodput),
            goodput_up: None,
        },
        treatment: Treatment::Pace,
        hops: Some(3),
        hop_source: HopSource::Ttl,
        link_rate: Rate::bits_per_sec(11_000_000),
        down: Traffic { packets: 10, bytes: Bytes(15_000) },
        up: Traffic { packets: 10, bytes: Bytes(400) },
        opened: now() - Span::from_secs(60),
        last_activity: now() - Span::from_millis(10),
        segment: Bytes(1460),
    }
}

/// A snapshot of these flows.
pub(crate) fn snapshot(flows: Vec<FlowReport>) -> Snapshot {
    Snapshot {
        at: now(),
        started: Instant::ZERO + Span::from_secs(10),
        mode: crate::config::Mode::Pace,
        counters: Counters { opened: flows.len() as u64, ..Counters::default() },
        driver: DriverCounters::default(),
        round_trips: RoundTrips::default(),
        waits: Some(Waits::default()),
        hosts: None,
        sample: None,
        held: 0,
        buffered: Bytes::ZERO,
        known: flows.len(),
        flows,
        complete: true,
    }
}

/// The status of a gateway with two flows, of which one gets a fifth of the mean.
pub(crate) fn status() -> crate::control::protocol::Status {
    let config = crate::config::Config::parse("test", b"mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]");
    let snapshot = snapshot(vec![report(1, 900), report(2, 100)]);
    crate::control::status_of(&snapshot, &config.expect("a right file"), &[])
}

/// A daemon whose data thread is made up: it always tells the same flows, at the present time.
pub(crate) struct Running {
    daemon: std::sync::Arc<crate::control::Daemon>,
    data: crate::control::DataThread,
    thread: std::sync::Mutex<Option<std::thread::JoinHandle<()>>>,
    directory: tempfile::TempDir,
}

impl Running {
    pub(crate) fn start(flows: Vec<FlowReport>) -> Self {
        Self::telling(flows, crate::events::Sink::nowhere())
    }

    /// One that tells its events there.
    pub(crate) fn telling(flows: Vec<FlowReport>, events: crate::events::Sink) -> Self {
        use crate::state::{FlowDetail, Request};
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("meshpaced.toml");
        std::fs::write(&file, "mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]\n").expect("written");
        let config = crate::config::Config::load(&file).expect("a right file");
        let (requests, received) = std::sync::mpsc::channel();
        let data = crate::control::DataThread::new(requests, meshpace_linux::Waker::new().expect("eventfd"));
        let thread = std::thread::spawn(move || {
            for request in received {
                // The client may be gone.
                let _ = match request {
                    Request::Snapshot(answer) => {
                        let at = monotonic_now();
                        let mut flows = flows.clone();
                        flows.iter_mut().for_each(|flow| flow.last_activity = at);
                        answer.send(Snapshot { at, ..snapshot(flows) }).is_ok()
                    }
                    // Snapshots are complete.
                    Request::Page(..) => false,
                    Request::Flow(key, answer) => {
                        let report = flows.iter().find(|flow| flow.stats.key == key).cloned();
                        let watched = report.as_ref().filter(|report| report.treatment == Treatment::Observe);
                        let explanation = meshpace_gateway::Explanation {
                            law: None,
                            law_interval: None,
                            standing: None,
                            forecast: watched.map(|_| Ok(FORECAST)),
                        };
                        answer.send(report.map(|report| Box::new(FlowDetail { report, explanation }))).is_ok()
                    }
                    Request::Reload(_, answer) => answer.send(Ok("in force".into())).is_ok(),
                    Request::Sign(answer) => answer.send(()).is_ok(),
                    Request::Stop => return,
                };
            }
        });
        let kept = crate::foresight::Kept::within(directory.path());
        let daemon = crate::control::Daemon::new(data.clone(), events, file, config, Some(kept));
        Self { daemon: daemon.into(), data, thread: Some(thread).into(), directory }
    }

    pub(crate) fn daemon(&self) -> std::sync::Arc<crate::control::Daemon> {
        self.daemon.clone()
    }

    /// A directory of this daemon's own; its configuration is there.
    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub(crate) fn end_data_thread(&self) {
        let _ = self.data.tell(crate::state::Request::Stop);
        let thread = self.thread.lock().expect("not poisoned").take();
        thread.map(std::thread::JoinHandle::join).transpose().expect("no panic");
        // The snapshot it told last is still fresh for a tenth of a second.
        let told = monotonic_now();
        while monotonic_now().saturating_since(told) < Span::from_millis(150) {
            std::thread::yield_now();
        }
    }
}
