//! Turns the data thread's snapshot into the answers of the control socket.

use super::protocol::{
    Detail, Doubt, Fairness, Flow, FlowCounts, Forecast, FoundRate, HostShare, Hosts, Lateness, Law,
    OtherLaw, Policy, Sample, Share, Standing, Status, Step, SubnetMode, Totals, Wait,
};
use crate::config::Config;
use crate::flow_name::{end_name, flow_name};
use crate::plausible;
use crate::state::{self, FlowDetail, FlowReport, HostsReport, Snapshot};
use crate::text::treatment_name;
use meshpace_gateway::{HostStats, Treatment, Unforeseen};
use meshpace_pacing::{LinkRates, Samples, Variation};
use meshpace_units::{Bytes, Instant, Rate, Span, statistics};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A flow is active if a packet of it was seen within this time; the interval of goodput control (schemes.md 3.5).
const ACTIVE: Span = Span::from_secs(5);
/// Flows listed as those with the smallest shares.
const SMALLEST: usize = 5;

/// The daemon as a whole.
pub(crate) fn status(snapshot: &Snapshot, config: &Config, doubts: &[plausible::Doubt]) -> Status {
    let of_treatment = |treatment| snapshot.flows.iter().filter(|flow| flow.treatment == treatment).count();
    let (unpaced, shaped) = (of_treatment(Treatment::Observe), snapshot.shapes());
    let (counters, driver) = (&snapshot.counters, &snapshot.driver);
    Status {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        uptime_s: snapshot.at.saturating_since(snapshot.started).as_secs_f64(),
        datapath: config.datapath.name().into(),
        mode: config.mode.name().into(),
        subnets: config.subnets.iter().map(|subnet| subnet_mode(config, subnet.prefix)).collect(),
        mesh_interfaces: config.mesh.interfaces.clone(),
        fairness: fairness(snapshot),
        flows: FlowCounts {
            known: snapshot.known,
            paced: of_treatment(Treatment::Pace),
            shaped: if shaped { unpaced } else { 0 },
            observed: if shaped { 0 } else { unpaced },
            capped: snapshot.flows.iter().filter(|flow| flow.stats.cap.is_some()).count(),
            bypassing: snapshot.flows.iter().filter(|flow| bypasses(flow)).count(),
            opened: counters.opened,
            evicted: counters.evicted,
        },
        traffic: Totals {
            packets: driver.packets,
            bytes: driver.bytes.0,
            unread: unread(snapshot).map(|(reason, n)| (reason.to_owned(), n)).collect(),
            untracked: counters.untracked,
            implausible: counters.implausible,
            held_total: counters.held,
            held: snapshot.held,
            buffered_bytes: snapshot.buffered.0,
            dropped: counters.dropped,
            retransmitted: counters.retransmitted,
            duplicate_acks_kept: counters.consumed,
            queue_overflows: driver.kernel_dropped,
            socket_overflows: driver.socket_dropped,
            held_limit: driver.overflowed,
            failed: driver.failed,
        },
        lateness: Lateness {
            departures: driver.lateness.count(),
            p50_s: driver.lateness.quantile(0.5).map(Span::as_secs_f64),
            p99_s: driver.lateness.quantile(0.99).map(Span::as_secs_f64),
            max_s: (driver.lateness.count() > 0).then(|| driver.lateness.max().as_secs_f64()),
        },
        wait: wait(snapshot),
        hosts: snapshot.hosts.as_ref().map(hosts),
        doubts: doubts.iter().map(|doubt| doubted(doubt, snapshot.at)).collect(),
        guard: None,
        sample: snapshot.sample.map(|told| sample(told, snapshot)),
        forecasts: None,
    }
}

/// How many of the packets the daemon sees.
fn sample(told: state::Sample, snapshot: &Snapshot) -> Sample {
    let at = snapshot.at;
    let active = snapshot.flows.iter().filter(|flow| at.saturating_since(flow.last_activity) < ACTIVE);
    let mut errors: Vec<f64> = active.filter_map(|flow| goodput_error(flow, at)).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied();
    Sample {
        most_pps: told.most,
        seen_pps: told.packets,
        active: told.active,
        goodput_error: median.filter(|_| told.active),
    }
}

/// The larger of the errors of its directions.
fn goodput_error(flow: &FlowReport, at: Instant) -> Option<f64> {
    let directions = [flow.stats.goodput_down, flow.stats.goodput_up];
    directions.into_iter().flatten().filter_map(|goodput| goodput.error(at)).reduce(f64::max)
}

fn doubted(doubt: &plausible::Doubt, at: Instant) -> Doubt {
    Doubt {
        name: doubt.name.word().into(),
        for_s: at.saturating_since(doubt.since).as_secs_f64(),
        found: doubt.found.clone(),
        remedy: doubt.remedy.clone(),
        contradicts: doubt.name.contradicts(),
    }
}

/// What goes into the mesh by host.
fn hosts(report: &HostsReport) -> Hosts {
    let HostsReport { config, counters, found, queued, known, hosts } = report;
    let share = |host: &HostStats| HostShare {
        host: host.host.to_string(),
        rate_bps: host.rate.as_bits_per_sec(),
        weight: host.terms.weight,
        cap_bps: host.terms.cap.map(Rate::as_bits_per_sec),
        found_bps: host.found.map(Rate::as_bits_per_sec),
        may_send_bps: host.may_send.map(Rate::as_bits_per_sec),
        mesh_wait_s: host.queue.map(Span::as_secs_f64),
        hops: host.terms.hops,
        link_rate_bps: host.terms.link.as_bits_per_sec(),
        price: host.price,
        flows: host.flows,
        queued: host.queued,
        wait_s: host.wait.map(Span::as_secs_f64),
        packets: host.packets,
        bytes: host.bytes.0,
        dropped: host.dropped,
        marked: host.marked,
    };
    // A flow of which nothing waits has all that it wants.
    let wants_more = hosts.iter().filter(|host| host.queued > 0);
    let got =
        |host: &HostStats| host.rate.as_bits_per_sec() as f64 * host.price / f64::from(host.terms.weight);
    Hosts {
        rate_bps: config.rate.as_bits_per_sec(),
        found: found.map(|found| FoundRate {
            min_bps: found.find.least.as_bits_per_sec(),
            max_bps: found.find.most.as_bits_per_sec(),
            mesh_wait_s: found.queue.map(Span::as_secs_f64),
            tcp: found.tcp,
            spin: found.spin,
            probes: found.probes,
            asked: found.asked,
            blind: found.is_blind,
        }),
        by: config.by.word().into(),
        known: *known,
        jain: jain(wants_more.map(got)),
        queued: *queued,
        packets: counters.packets,
        dropped: counters.dropped,
        marked: counters.marked,
        list: hosts.iter().map(share).collect(),
    }
}

fn wait(snapshot: &Snapshot) -> Wait {
    let waits = snapshot.waits.as_ref().map(|waits| &waits.0);
    let quantile = |share| waits.and_then(|waits| waits.quantile(share)).map(Span::as_secs_f64);
    let now = snapshot.flows.iter().filter_map(|flow| flow.stats.wait).max();
    Wait {
        packets: waits.map(meshpace_units::Histogram::count),
        p50_s: quantile(0.5),
        p95_s: quantile(0.95),
        max_s: quantile(1.0),
        longest_now_s: now.map(Span::as_secs_f64),
        aqm_drops: snapshot.counters.aqm_drops,
        aqm_marks: snapshot.counters.aqm_marks,
        windows_lowered: snapshot.counters.windows_lowered,
    }
}

/// Packets that passed unread, by reason.
pub(crate) fn unread(snapshot: &Snapshot) -> impl Iterator<Item = (&'static str, u64)> {
    let unread = &snapshot.driver.unread;
    BTreeMap::from([
        ("fragment", unread.fragments),
        ("other_protocol", unread.other_protocol),
        ("truncated", unread.truncated),
        ("malformed", unread.malformed),
        ("oversized", unread.oversized),
        ("not_crossing", unread.not_crossing),
        ("off", unread.off),
        ("signed", unread.signed),
    ])
    .into_iter()
}

fn subnet_mode(config: &Config, prefix: ipnet::IpNet) -> SubnetMode {
    let policy = config.policy(prefix.addr());
    SubnetMode {
        prefix: prefix.to_string(),
        mode: policy.mode.name().into(),
        paced_share: policy.paced_share,
    }
}

/// Jain's index; `None` of fewer than two, or of nothing.
pub(crate) fn jain(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let shares: Vec<f64> = shares.collect();
    statistics::jain(shares.iter().copied()).filter(|_| shares.len() >= 2)
}

/// A flow that should be paced and is not, as the buffer was full when it began.
pub(crate) fn bypasses(flow: &FlowReport) -> bool {
    flow.treatment == Treatment::Pace && flow.stats.down && !flow.stats.paced
}

/// How the active flows share.
pub(crate) fn fairness(snapshot: &Snapshot) -> Fairness {
    let at = snapshot.at;
    let mut active: Vec<(u64, &FlowReport)> = snapshot
        .flows
        .iter()
        .filter(|flow| flow.stats.up || flow.stats.down)
        .filter(|flow| at.saturating_since(flow.last_activity) < ACTIVE)
        .filter_map(|flow| Some((flow.stats.goodput(at)?.as_bits_per_sec(), flow)))
        .collect();
    active.sort_by_key(|&(goodput, flow)| (goodput, flow.stats.key));
    let goodputs = || active.iter().map(|&(goodput, _)| goodput as f64);
    let sum: f64 = goodputs().sum();
    let mean = (sum > 0.0).then(|| sum / active.len() as f64);
    let share = |&(goodput, flow): &(u64, &FlowReport)| {
        Some(Share {
            flow: flow_name(&flow.stats.key),
            goodput_bps: goodput,
            share: goodput as f64 / mean?,
            wireless_rtt_s: flow.stats.wireless_rtt.map(Span::as_secs_f64),
            hops: flow.hops,
            treatment: treatment_name(flow.treatment, snapshot.shapes()).into(),
            outstanding: flow.stats.outstanding,
        })
    };
    Fairness {
        active: active.len(),
        // Jain's index (schemes.md 0.3); a single flow, or none that got anything, shares with no other.
        jain: jain(goodputs()),
        mean_bps: mean,
        smallest: active.iter().take(SMALLEST).filter_map(share).collect(),
    }
}

/// One flow as it is listed.
pub(super) fn flow(report: &FlowReport, snapshot: &Snapshot, config: &Config) -> Flow {
    let (stats, at) = (&report.stats, snapshot.at);
    let waits = stats.wait.into_iter().chain(wait_of_host(snapshot, config, stats.key.wireless.address));
    let bps = |rate: Option<Rate>| rate.map(Rate::as_bits_per_sec);
    let direction = match (stats.down, stats.up) {
        (true, true) => "both",
        (true, false) => "down",
        (false, true) => "up",
        (false, false) => "none",
    };
    Flow {
        flow: flow_name(&stats.key),
        wireless: end_name(&stats.key.wireless),
        wired: end_name(&stats.key.wired),
        direction: direction.into(),
        treatment: treatment_name(report.treatment, snapshot.shapes()).into(),
        paced: stats.paced,
        outstanding: stats.outstanding,
        hops: report.hops,
        hop_source: report.hop_source.name().into(),
        link_rate_bps: report.link_rate.as_bits_per_sec(),
        wireless_rtt_s: stats.wireless_rtt.map(Span::as_secs_f64),
        wired_rtt_s: stats.wired_rtt.map(Span::as_secs_f64),
        goodput_bps: bps(stats.goodput(at)),
        goodput_down_bps: bps(stats.goodput_down.and_then(|g| g.rate(at))),
        goodput_up_bps: bps(stats.goodput_up.and_then(|g| g.rate(at))),
        goodput_error: goodput_error(report, at).filter(|_| snapshot.is_of_a_sample()),
        interval_s: stats.interval.map(Span::as_secs_f64),
        rate_bps: stats.interval.and_then(|interval| payload_rate(report.segment, interval)),
        cap_pps: stats.cap.map(|cap| 1.0 / cap.as_secs_f64()),
        variation: stats.variation,
        queued: stats.queued,
        buffered_bytes: stats.buffered.0,
        wait_s: waits.reduce(|queue, shaper| queue + shaper).map(Span::as_secs_f64),
        window_bytes: stats.window.map(|window| window.0),
        drops: stats.drops,
        duplicates: stats.duplicates,
        aqm_drops: stats.aqm_drops,
        aqm_marks: stats.aqm_marks,
        local_retransmissions: stats.local_retransmissions,
        options_written: stats.options_written,
        samples: stats.samples.0,
        samples_rejected: stats.samples.1,
        down_bytes: report.down.bytes.0,
        up_bytes: report.up.bytes.0,
        down_packets: report.down.packets,
        up_packets: report.up.packets,
        age_s: at.saturating_since(report.opened).as_secs_f64(),
        idle_s: at.saturating_since(report.last_activity).as_secs_f64(),
    }
}

/// How long packets to that mesh host wait behind their flows' queues, where hosts are shaped.
fn wait_of_host(snapshot: &Snapshot, config: &Config, host: IpAddr) -> Option<Span> {
    let counts_as = config.counts_as(host);
    snapshot.hosts.as_ref()?.hosts.iter().find(|known| known.host == counts_as)?.wait
}

/// Payload of one full segment an interval, bit/s; `None` where no payload was seen.
pub(super) fn payload_rate(segment: Bytes, interval: Span) -> Option<u64> {
    (segment > Bytes::ZERO && !interval.is_zero())
        .then(|| (segment.bits() as f64 / interval.as_secs_f64()) as u64)
}

/// One flow and everything that its rate follows from.
pub(super) fn detail(detail: &FlowDetail, snapshot: &Snapshot, config: &Config) -> Detail {
    let key = &detail.report.stats.key;
    let policy = config.policy(key.wireless.address);
    let law = detail.explanation.law.as_deref();
    Detail {
        flow: flow(&detail.report, snapshot, config),
        policy: Policy {
            mode: policy.mode.name().into(),
            paced_share: policy.paced_share,
            draw: crate::treatment::draw(config.ab_seed, key),
        },
        segment_bytes: detail.report.segment.0,
        law: law.and_then(|law| law.rate_law()).map(law_of),
        other_law: law.filter(|law| law.rate_law().is_none()).map(|law| OtherLaw {
            name: config.law.word().unwrap_or("unknown").to_owned(),
            interval_s: detail.explanation.law_interval.map(Span::as_secs_f64),
            figures: law.figures().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }),
        goodput_control: detail.explanation.standing.zip(config.gateway.goodput_control).map(
            |(standing, control)| Standing {
                interval_s: control.interval.as_secs_f64(),
                threshold: control.threshold,
                goodput_bps: standing.goodput,
                mean_bps: standing.mean,
                active: standing.active,
                cap_interval_s: standing.cap.map(Span::as_secs_f64),
                capped_runs: standing.capped_runs,
                left_alone_runs: standing.left_alone_runs,
            },
        ),
        // Where flows are left to the shaper of hosts, no mode gives this one a pace.
        forecast: (!config.leaves_flows_free())
            .then_some(detail.explanation.forecast)
            .flatten()
            .map(|told| forecast(told, detail.report.segment)),
        forecasts: None,
    }
}

fn forecast(told: Result<meshpace_gateway::Forecast, Unforeseen>, segment: Bytes) -> Forecast {
    let why = |unforeseen| match unforeseen {
        Unforeseen::TooYoung(_) => "too-young",
        Unforeseen::NeverAlone => "never-alone",
        Unforeseen::NotMeasured => "not-measured",
        Unforeseen::OtherLaw => "other-law",
    };
    let known = told.ok();
    Forecast {
        interval_s: known.map(|forecast| forecast.interval.as_secs_f64()),
        rate_bps: known.and_then(|forecast| payload_rate(segment, forecast.interval)),
        base_rtt_s: known.map(|forecast| forecast.base.as_secs_f64()),
        sharing: known.map(|forecast| forecast.sharing),
        unknown: told.err().map(|unforeseen| why(unforeseen).to_owned()),
    }
}

fn law_of(law: &meshpace_pacing::RateLaw) -> Law {
    let parameters = law.config();
    let history: Vec<f64> = law.history().collect();
    let mean = (!history.is_empty()).then(|| history.iter().sum::<f64>() / history.len() as f64);
    Law {
        alpha: parameters.alpha,
        n: parameters.n,
        variation_measure: match parameters.variation {
            Variation::Cov => "cov".into(),
            Variation::Mad => "mad".into(),
            Variation::None => "none".into(),
        },
        sampled: match parameters.samples {
            Samples::RoundTrip => "round-trip".into(),
            Samples::KHopDelay => "k-hop-delay".into(),
        },
        delay_bound_s: parameters.delay_bound.map(Span::as_secs_f64),
        history_s: history,
        history_max: parameters.history,
        mean_s: mean,
        variation: law.variation(),
        last: law.last().map(step),
        smoothed_s: law.k_hop_delay(),
        interval_s: law.interval().map(Span::as_secs_f64),
        unreliable: law.unreliable(),
    }
}

fn step(step: &meshpace_pacing::Step) -> Step {
    let bps = |rate: &Rate| rate.as_bits_per_sec();
    Step {
        rtt_s: step.rtt.as_secs_f64(),
        hops: step.path.hops(),
        hops_known: step.path.is_reliable(),
        k: step.k,
        data_bits: step.path.data().bits(),
        ack_bits: step.path.ack().bits(),
        link_rates_bps: match step.path.rates() {
            LinkRates::Uniform(rate) => vec![bps(rate)],
            LinkRates::PerLink(rates) => rates.iter().map(bps).collect(),
        },
        queueing_s: step.queueing_delay,
        k_hop_delay_s: step.k_hop_delay,
        smoothed_before_s: step.smoothed_before,
    }
}

#[cfg(test)]
mod tests;
