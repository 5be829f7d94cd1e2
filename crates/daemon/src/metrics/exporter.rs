//! A snapshot as Prometheus text.

use crate::config::Config;
use crate::control::{bypasses, fairness, unread};
use crate::plausible::{Doubt, Name};
use crate::state::{FlowReport, Snapshot};
use crate::text::treatment_name;
use ipnet::IpNet;
use meshpace_units::{Histogram, Rate, Span};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::sync::Arc;

/// Subnets with time series of their own, in the order of the configuration (longest prefix first); the rest of the mesh
/// is summed as `other`.
const SUBNETS_MAX: usize = 128;
const OTHER: &str = "other";

/// What one scrape tells.
#[derive(Debug)]
pub struct Exporter {
    snapshot: Arc<Snapshot>,
    config: Arc<Config>,
    doubts: Vec<Doubt>,
}

impl Exporter {
    /// The `Content-Type` of [`Exporter::text`].
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// The snapshot as text in the OpenMetrics form.
    #[must_use]
    pub fn text(snapshot: Arc<Snapshot>, config: Arc<Config>, doubts: Vec<Doubt>) -> String {
        let mut registry = Registry::with_prefix("meshpace");
        registry.register_collector(Box::new(Self { snapshot, config, doubts }));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a String takes all");
        text
    }
}

impl Collector for Exporter {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(encoder);
        self.daemon(&mut out)?;
        self.flows(&mut out)?;
        self.packets(&mut out)?;
        self.times(&mut out)?;
        self.hosts(&mut out)?;
        self.subnets(&mut out)
    }
}

impl Exporter {
    fn daemon(&self, out: &mut Writer<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        out.gauges("build", "Always 1; the version is the label.", [([("version", version)], 1.0)])?;
        let uptime = self.snapshot.at.saturating_since(self.snapshot.started).as_secs_f64();
        out.gauge("uptime", "Time since the data path began.", Some(&Unit::Seconds), Some(uptime))?;
        let mode = self.config.mode.name();
        out.gauges(
            "mode",
            "Always 1; the mode of mesh hosts without a subnet of their own is the label.",
            [([("mode", mode)], 1.0)],
        )?;
        let doubted = |name: Name| self.doubts.iter().any(|doubt| doubt.name == name);
        let doubts = Name::ALL.map(|name| ([("name", name.word())], f64::from(u8::from(doubted(name)))));
        out.gauges("doubts", "1 while something that is believed cannot be, or is not seen.", doubts)
    }

    fn flows(&self, out: &mut Writer<'_>) -> fmt::Result {
        let flows = &self.snapshot.flows;
        let number =
            |fits: &dyn Fn(&FlowReport) -> bool| flows.iter().filter(|flow| fits(flow)).count() as f64;
        let shapes = self.snapshot.shapes();
        let treated = ["pace", "shape", "observe"].map(|name| {
            ([("treatment", name)], number(&|flow| treatment_name(flow.treatment, shapes) == name))
        });
        out.gauges("flows", "Connections known.", treated)?;
        let capped = number(&|flow| flow.stats.cap.is_some());
        out.gauge("flows_capped", "Connections under a cap of goodput control.", None, Some(capped))?;
        let bypassing = number(&bypasses);
        out.gauge(
            "flows_bypassing",
            "Connections unpaced because the buffer was full.",
            None,
            Some(bypassing),
        )?;
        let counters = &self.snapshot.counters;
        out.counter("flows_opened", "Connections entered into the table.", counters.opened)?;
        out.counter("flows_evicted", "Connections forgotten to make place for others.", counters.evicted)?;
        let fairness = fairness(&self.snapshot);
        let active = fairness.active as f64;
        out.gauge("flows_active", "Connections that carried data within five seconds.", None, Some(active))?;
        out.gauge("fairness_jain_index", "Jain's index of the active flows' goodputs.", None, fairness.jain)?;
        let rate = Unit::Other("bits_per_second".into());
        let help = "Mean goodput of the active flows.";
        out.gauge("goodput_mean", help, Some(&rate), fairness.mean_bps)
    }

    fn packets(&self, out: &mut Writer<'_>) -> fmt::Result {
        let Snapshot { counters, driver, held, buffered, .. } = &*self.snapshot;
        out.counter("packets", "Packets taken from the kernel.", driver.packets)?;
        out.counter("traffic_bytes", "Their IP bytes.", driver.bytes.0)?;
        let reasons = unread(&self.snapshot).map(|(reason, n)| ([("reason", reason)], n));
        out.counters("unread_packets", "Packets passed on unread.", reasons)?;
        out.counter("untracked_packets", "Packets of connections without a place.", counters.untracked)?;
        let help = "Packets whose sequence numbers cannot be of their connection, passed on unpaced.";
        out.counter("implausible_packets", help, counters.implausible)?;
        let verdicts = [
            ("forwarded", counters.forwarded),
            ("held", counters.held),
            ("consumed", counters.consumed),
            ("dropped", counters.dropped),
            ("duplicate", counters.duplicates),
        ];
        let verdicts = verdicts.map(|(verdict, n)| ([("verdict", verdict)], n));
        out.counters("verdicts", "Packets of known connections, by what was done at once.", verdicts)?;
        let departures = [
            ("released", counters.released),
            ("discarded", counters.discarded),
            ("retransmitted", counters.retransmitted),
        ];
        let departures = departures.map(|(action, n)| ([("action", action)], n));
        out.counters("departures", "Packets that left a queue or a cache.", departures)?;
        let overflows = [
            ("queue", driver.kernel_dropped),
            ("socket", driver.socket_dropped),
            ("held", driver.overflowed),
        ];
        let overflows = overflows.map(|(place, n)| ([("place", place)], n));
        out.counters("overflows", "Packets that found no room, by where.", overflows)?;
        let signals = [("drop", counters.aqm_drops), ("mark", counters.aqm_marks)];
        let signals = signals.map(|(signal, n)| ([("signal", signal)], n));
        out.counters(
            "queue_signals",
            "Packets dropped or marked since packets waited too long (CoDel).",
            signals,
        )?;
        let help = "Acknowledgements whose window was lowered to what the flow's pace can use.";
        out.counter("windows_lowered", help, counters.windows_lowered)?;
        out.counter("failed_packets", "Packets whose handling failed inside.", driver.failed)?;
        out.gauge("held_packets", "Packets waiting.", None, Some(*held as f64))?;
        out.gauge("buffered", "Bytes in queues and caches.", Some(&Unit::Bytes), Some(buffered.0 as f64))
    }

    fn times(&self, out: &mut Writer<'_>) -> fmt::Result {
        let Snapshot { driver, round_trips, .. } = &*self.snapshot;
        out.histogram("departure_lateness", "How late paced packets left.", &driver.lateness)?;
        if let Some(waits) = &self.snapshot.waits {
            out.histogram(
                "queue_wait",
                "How long data packets waited for their turn, at a gateway that paces them.",
                &waits.0,
            )?;
        }
        out.histogram("wireless_rtt", "Gateway to mesh host and back.", &round_trips.wireless)?;
        out.histogram("wired_rtt", "Gateway to Internet host and back.", &round_trips.wired)
    }

    /// What the shaper of hosts counted, where there is one. Hosts by themselves are in the status: an address a label would have no bound.
    fn hosts(&self, out: &mut Writer<'_>) -> fmt::Result {
        let Some(hosts) = &self.snapshot.hosts else { return Ok(()) };
        let rate = Unit::Other("bits_per_second".into());
        let limit = hosts.config.rate.as_bits_per_sec() as f64;
        out.gauge("hosts_rate", "What all mesh hosts together may have.", Some(&rate), Some(limit))?;
        if let Some(found) = &hosts.found {
            let wait = found.queue.map(Span::as_secs_f64);
            let help = "How long packets wait in the mesh a hop, by which the rate is found.";
            out.gauge("hosts_mesh_wait", help, Some(&Unit::Seconds), wait)?;
            let trips = [("tcp", found.tcp), ("spin", found.spin), ("echo", found.probes)];
            let trips = trips.map(|(by, count)| ([("by", by)], count));
            out.counters("hosts_round_trips", "Round trips in the mesh by which the rate is found.", trips)?;
            out.counter("hosts_echo_requests", "ICMP echoes that mesh hosts were asked for.", found.asked)?;
        }
        out.gauge("hosts_known", "Mesh hosts that the shaper knows.", None, Some(hosts.known as f64))?;
        let help = "Packets that wait for their host's turn.";
        out.gauge("hosts_queued_packets", help, None, Some(hosts.queued as f64))?;
        out.counter("hosts_packets", "Packets that had their host's turn.", hosts.counters.packets)?;
        let signals = [("drop", hosts.counters.dropped), ("mark", hosts.counters.marked)];
        let signals = signals.map(|(signal, n)| ([("signal", signal)], n));
        out.counters("hosts_signals", "Packets dropped or marked at the shaper of hosts.", signals)
    }

    /// Flows and goodput by the configured subnet of their mesh end.
    fn subnets(&self, out: &mut Writer<'_>) -> fmt::Result {
        let prefixes: Vec<IpNet> = self.config.subnets.iter().map(|s| s.prefix).take(SUBNETS_MAX).collect();
        let mut sums = vec![(0_u64, 0_u64); prefixes.len() + 1];
        for flow in &self.snapshot.flows {
            let host = flow.stats.key.wireless.address;
            let at = prefixes.iter().position(|prefix| prefix.contains(&host)).unwrap_or(prefixes.len());
            sums[at].0 += 1;
            sums[at].1 += flow.stats.goodput(self.snapshot.at).map_or(0, Rate::as_bits_per_sec);
        }
        let names: Vec<String> = prefixes.iter().map(IpNet::to_string).chain([OTHER.into()]).collect();
        let by = |value: fn(&(u64, u64)) -> u64| {
            let values = names.iter().zip(&sums);
            values.map(move |(name, sums)| ([("subnet", name.as_str())], value(sums) as f64))
        };
        out.gauges("subnet_flows", "Connections by the subnet of their mesh end.", by(|&(flows, _)| flows))?;
        let help = "Goodput by the subnet of the mesh end.";
        out.gauges("subnet_goodput_bits_per_second", help, by(|&(_, goodput)| goodput))
    }
}

/// Writes one metric after the other.
struct Writer<'a>(DescriptorEncoder<'a>);

type Label<'l> = [(&'static str, &'l str); 1];

impl Writer<'_> {
    fn begin<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        unit: Option<&'s Unit>,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, unit, kind)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        ConstCounter::new(value).encode(self.begin(name, help, None, MetricType::Counter)?)
    }

    fn counters<'l>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Label<'l>, u64)>,
    ) -> fmt::Result {
        let mut encoder = self.begin(name, help, None, MetricType::Counter)?;
        values
            .into_iter()
            .try_for_each(|(label, value)| ConstCounter::new(value).encode(encoder.encode_family(&label)?))
    }

    /// A gauge; it is left out where the value is unknown.
    fn gauge(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: Option<f64>) -> fmt::Result {
        let encoder = self.begin(name, help, unit, MetricType::Gauge)?;
        value.map_or(Ok(()), |value| ConstGauge::new(value).encode(encoder))
    }

    fn gauges<'l>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Label<'l>, f64)>,
    ) -> fmt::Result {
        let mut encoder = self.begin(name, help, None, MetricType::Gauge)?;
        values
            .into_iter()
            .try_for_each(|(label, value)| ConstGauge::new(value).encode(encoder.encode_family(&label)?))
    }

    fn histogram<const N: usize>(&mut self, name: &str, help: &str, spans: &Histogram<N>) -> fmt::Result {
        let bound = |bound: Option<Span>| bound.map_or(f64::INFINITY, Span::as_secs_f64);
        let buckets: Vec<(f64, u64)> = spans.buckets().map(|(upper, count)| (bound(upper), count)).collect();
        let mut encoder = self.begin(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
        encoder.encode_histogram::<NoLabelSet>(spans.total().as_secs_f64(), spans.count(), &buckets, None)
    }
}

#[cfg(test)]
mod tests;
