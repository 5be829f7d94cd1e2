//! The status as Prometheus text.

use super::status::{Counters, Status};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// The status in the OpenMetrics form.
pub fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("meshpace_edge");
    registry.register_collector(Box::new(StatusCollector(status.clone())));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).expect("a String takes all");
    text
}

#[derive(Debug)]
struct StatusCollector(Status);

impl Collector for StatusCollector {
    fn encode(&self, mut out: DescriptorEncoder<'_>) -> fmt::Result {
        let Status { version, datapath, uptime_s, thinned, .. } = &self.0;
        let counted = &self.0.counters;
        let Counters { packets, acknowledgements, withheld, sent_later, overtaken, waiting, .. } = *counted;
        let help = "Always 1; version and data path are the labels.";
        let mut build = out.encode_descriptor("build", help, None, MetricType::Gauge)?;
        let labels = [("version", version.as_str()), ("datapath", datapath.as_str())];
        ConstGauge::new(1.0).encode(build.encode_family(&labels)?)?;
        let help = "Time since the edge began.";
        let uptime = out.encode_descriptor("uptime", help, Some(&Unit::Seconds), MetricType::Gauge)?;
        ConstGauge::new(*uptime_s).encode(uptime)?;
        let waits =
            out.encode_descriptor("waiting", "Acknowledgements kept now.", None, MetricType::Gauge)?;
        ConstGauge::new(waiting as f64).encode(waits)?;
        let counters = [
            ("packets", "Packets seen on their way into the mesh.", packets),
            ("acknowledgements", "Pure acknowledgements among them.", acknowledgements),
            ("thinned", "Acknowledgements that did not go into the mesh.", *thinned),
            ("withheld", "Acknowledgements kept when they came.", withheld),
            ("sent_later", "Of these, sent later.", sent_later),
            ("overtaken", "Of these, dropped as a newer one had just passed.", overtaken),
            ("failed", "What was kept could not be sent.", counted.failed),
            ("late", "The program found that the daemon does not send what is kept.", counted.late),
        ];
        for (name, help, value) in counters {
            ConstCounter::new(value).encode(out.encode_descriptor(
                name,
                help,
                None,
                MetricType::Counter,
            )?)?;
        }
        if let Some(news) = counted.news {
            let help = "Acknowledgements that passed because no later one repeats what they say.";
            ConstCounter::new(news).encode(out.encode_descriptor(
                "news",
                help,
                None,
                MetricType::Counter,
            )?)?;
        }
        let passed = [("place", counted.no_place), ("report", counted.lost_events)];
        family(
            &mut out,
            "passed_for_want",
            "Acknowledgements that passed because there was no room to keep them, or the daemon could not be told of them.",
            "of",
            &passed,
        )?;
        let unread = [
            ("other_protocol", counted.other_protocol),
            ("fragments", counted.fragments),
            ("truncated", counted.truncated),
            ("malformed", counted.malformed),
        ];
        family(&mut out, "unread_packets", "Packets passed on unread.", "reason", &unread)
    }
}

fn family(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    values: &[(&str, u64)],
) -> fmt::Result {
    let mut encoder = out.encode_descriptor(name, help, None, MetricType::Counter)?;
    values
        .iter()
        .try_for_each(|(value, n)| ConstCounter::new(*n).encode(encoder.encode_family(&[(label, *value)])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::status::tests::example;

    #[test]
    fn every_number_of_the_status_is_a_metric() {
        let text = text(&example());
        for line in [
            "meshpace_edge_build{version=\"0.1.0\",datapath=\"ebpf\"} 1.0",
            "meshpace_edge_uptime_seconds 75.0",
            "meshpace_edge_waiting 3.0",
            "meshpace_edge_packets_total 20000",
            "meshpace_edge_acknowledgements_total 10000",
            "meshpace_edge_thinned_total 8957",
            "meshpace_edge_withheld_total 9000",
            "meshpace_edge_sent_later_total 40",
            "meshpace_edge_overtaken_total 2",
            "meshpace_edge_news_total 31",
            "meshpace_edge_failed_total 6",
            "meshpace_edge_late_total 7",
            "meshpace_edge_passed_for_want_total{of=\"place\"} 4",
            "meshpace_edge_passed_for_want_total{of=\"report\"} 5",
            "meshpace_edge_unread_packets_total{reason=\"other_protocol\"} 900",
            "meshpace_edge_unread_packets_total{reason=\"fragments\"} 8",
            "meshpace_edge_unread_packets_total{reason=\"truncated\"} 10",
            "meshpace_edge_unread_packets_total{reason=\"malformed\"} 11",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
