//! A resolved scenario as JSON, for tools that bring it elsewhere (`meshpace crosscheck`).
//!
//! Seconds, bit/s, metres, bytes; names as in the file, values in the words of the file.

use meshpace_mesh::parameters_in_use;
use meshpace_scenario::{
    App, BackoffRange, Channel, Collect, Endpoint, FileClock, Flow, Layer, Measure, MeshNode, Mobility,
    NodeRadio, Plan, Preamble, Propagation, Radio, Reception, Routing, RtsThreshold, Scenario, ScenarioError,
};
use meshpace_settings::schema::plain;
use meshpace_units::NodeId;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The whole scenario, with every parameter of the schemes that it uses.
///
/// # Errors
/// If it uses a scheme that does not exist, or gives a scheme a parameter that is not acceptable.
pub fn to_json(scenario: &Scenario) -> Result<Value, ScenarioError> {
    let schemes = parameters_in_use(scenario)?;
    let name = |end: Endpoint| scenario.name_of(end).to_owned();
    Ok(json!({
        "name": scenario.name,
        "description": scenario.description,
        "source": scenario.source,
        "seed": scenario.seed,
        "scenario_sha256": scenario.scenario_sha256,
        "overrides": scenario.overrides,
        "measure": measure(&scenario.measure),
        "radio": radio(scenario),
        "mesh": mesh(scenario),
        "channels": scenario.channels.iter().map(|channel| on_channel(scenario, channel)).collect::<Vec<_>>(),
        "radio_links": scenario.radio_links.iter().map(|link| json!({
            "from": name(Endpoint::Mesh(link.from)),
            "to": name(Endpoint::Mesh(link.to)),
            "mhz": link.mhz,
            "loss": link.loss,
            "loss_length": link.loss_length.map(|length| length.0),
            "burst": link.burst,
        })).collect::<Vec<_>>(),
        "wired": scenario.wired.iter().map(|node| json!({
            "id": node.id,
            "address": node.address.to_string(),
            "mac": mac(node.mac),
        })).collect::<Vec<_>>(),
        "links": scenario.links.iter().map(|link| json!({
            "a": name(link.a),
            "b": name(link.b),
            "rate_bps": link.rate.as_bits_per_sec(),
            "delay_s": link.delay.as_secs_f64(),
            "queue": link.queue,
        })).collect::<Vec<_>>(),
        "routing": routing(&scenario.routing),
        "processing_delay_s": scenario.processing.delay.as_secs_f64(),
        "processing_jitter_s": scenario.processing.jitter.as_secs_f64(),
        "mobility": mobility(scenario),
        "network_scheme": scenario.network_scheme,
        "flows": scenario.flows.iter().map(|one| flow(scenario, one)).collect::<Vec<_>>(),
        "emulated_hosts": scenario.emulated_hosts.iter().map(|host| json!({
            "node": name(host.node),
            "frames": host.layer == Layer::Frames,
            "run": host.command.as_ref().map(|command| &command.run),
            "start_s": host.command.as_ref().map(|command| command.start.as_secs_f64()),
            "collect": host.command.as_ref().map(|command| match command.collect {
                Collect::Nothing => "no",
                Collect::Output => "output",
                Collect::Iperf3 => "iperf3",
            }),
        })).collect::<Vec<_>>(),
        "scheme_settings": scenario.scheme_settings.iter().map(|setting| json!({
            "scheme": setting.scheme,
            "key": setting.key,
            "value": meshpace_settings::schema::raw(&setting.value),
        })).collect::<Vec<_>>(),
        "schemes": schemes,
    }))
}

/// The mesh nodes; `placed` is false where a node has no place, and x and y are only where to draw it.
fn mesh(scenario: &Scenario) -> Value {
    let node = |(index, node): (usize, &MeshNode)| {
        let place = scenario.drawn_at(NodeId::from_index(index));
        json!({
            "id": node.id,
            "x": place.x,
            "y": place.y,
            "z": place.z,
            "placed": node.position.is_some(),
            "gateway": node.gateway,
            "address": node.address.to_string(),
            "mac": mac(node.mac),
        })
    };
    scenario.mesh.iter().enumerate().map(node).collect()
}

/// A channel of several, and whose radios are on it, each with its number among its node's.
fn on_channel(scenario: &Scenario, channel: &Channel) -> Value {
    let radio = |radio: &NodeRadio| {
        json!({
            "node": scenario.name_of(Endpoint::Mesh(radio.node)),
            "number": radio.number,
            "rate_bps": radio.mode.rate.as_bits_per_sec(),
        })
    };
    json!({
        "number": channel.number(),
        "mhz": channel.mhz,
        "width_mhz": channel.standard.bandwidth / 1_000_000,
        "basic_rate_bps": channel.basic_rate.as_bits_per_sec(),
        "radios": channel.radios.iter().map(radio).collect::<Vec<_>>(),
    })
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

fn measure(measure: &Measure) -> Value {
    let windows: Vec<f64> = measure.windows.iter().map(|window| window.as_secs_f64()).collect();
    match measure.plan {
        Plan::Time { duration, warmup } => json!({
            "kind": "time",
            "duration_s": duration.as_secs_f64(),
            "warmup_s": warmup.as_secs_f64(),
            "windows_s": windows,
        }),
        Plan::Batches { packets, batches, limit } => json!({
            "kind": "batches",
            "packets": packets,
            "batches": batches,
            "limit_s": limit.as_secs_f64(),
            "windows_s": windows,
        }),
    }
}

fn radio(scenario: &Scenario) -> Value {
    let radio: &Radio = &scenario.radio;
    let (reception, threshold) = match radio.reception {
        Reception::Ns2Capture { capture_threshold_db } => ("ns2-capture", Some(capture_threshold_db)),
        Reception::Sinr { sinr_threshold_db } => ("sinr", Some(sinr_threshold_db)),
        Reception::SinrCurve => ("sinr", None),
    };
    let (propagation, exponent, shadowing, at_1m) = match radio.propagation {
        Propagation::TwoRay => ("two-ray", None, None, None),
        Propagation::LogDistance { exponent, shadowing_db, at_1m } => {
            ("log-distance", Some(exponent), Some(shadowing_db), Some(at_1m))
        }
        Propagation::Ranges => ("ranges", None, None, None),
    };
    let building = &radio.building;
    let mut out = json!({
        "standard": radio.standard.word,
        "rate_bps": radio.rate.as_bits_per_sec(),
        "basic_rate_bps": radio.basic_rate.as_bits_per_sec(),
        "preamble": match radio.preamble { Preamble::Long => "long", Preamble::Short => "short" },
        "rts": match radio.rts {
            RtsThreshold::Always => json!("always"),
            RtsThreshold::Never => json!("never"),
            RtsThreshold::From(bytes) => json!(bytes.0),
        },
        "retry_short": radio.retry_short,
        "retry_long": radio.retry_long,
        "queue": radio.queue,
        "mac_overhead": radio.mac_overhead.0,
        "reception": reception,
        "threshold_db": threshold,
        "propagation": propagation,
        "path_loss_exponent": exponent,
        "shadowing_db": shadowing,
        "received_at_1m_w": at_1m,
        "error_model": match radio.reception {
            Reception::Ns2Capture { .. } => None,
            Reception::Sinr { .. } => Some("threshold"),
            Reception::SinrCurve => Some("curve"),
        },
        "asymmetry_db": building.asymmetry_db,
        "gain_spread_db": building.gain_spread_db,
        "ceiling_db": building.floors.map(|floors| floors.ceiling_db),
        "storey_m": building.floors.map(|floors| floors.storey),
        "fading_db": radio.fading.map(|fading| fading.spread_db),
        "fading_time_s": radio.fading.map(|fading| fading.correlation.as_secs_f64()),
        "link_margin_db": building.kept.as_ref().map(|kept| kept.margin_db),
        "tx_range_m": radio.tx_range,
        "cs_range_m": radio.cs_range,
        "arp": radio.arp,
        "ack_timeout_s": radio.ack_timeout.as_secs_f64(),
        "backoff_range": match radio.backoff_range { BackoffRange::Ns2 => "ns2", BackoffRange::Standard => "standard" },
        "link_rates": radio.link_rates.iter().map(|exception| json!({
            "from": scenario.name_of(Endpoint::Mesh(exception.from)),
            "to": exception.to.map(|to| scenario.name_of(Endpoint::Mesh(to)).to_owned()),
            "mhz": exception.mhz,
            "rate_bps": exception.rate.as_bits_per_sec(),
        })).collect::<Vec<_>>(),
    });
    for (key, setting) in radio.own.iter() {
        out[key] = plain(setting);
    }
    if radio.rate_control.chooses() {
        out["rate_control"] = json!(radio.rate_control.word);
        for (key, setting) in radio.rate_control.own.iter() {
            out[key] = plain(setting);
        }
    }
    out
}

fn routing(routing: &Routing) -> Value {
    let mut out = json!({"protocol": routing.protocol.about.word, "profile": routing.profile.word});
    for (key, setting) in routing.values.iter() {
        out[key] = plain(setting);
    }
    out
}

fn mobility(scenario: &Scenario) -> Value {
    match &scenario.mobility {
        Mobility::Static => json!({"model": "static"}),
        Mobility::RandomWaypoint {
            speed_min,
            speed_max,
            inverse_first,
            pause,
            width,
            height,
            nodes,
            own,
        } => {
            let name = |node: &NodeId| scenario.name_of(Endpoint::Mesh(*node));
            let sides = own.iter().map(|(node, at)| (name(node), [at.west, at.south, at.east, at.north]));
            json!({
                "model": "random-waypoint",
                "speed_min": speed_min,
                "speed_max": speed_max,
                "first_speed": if *inverse_first { "inverse" } else { "uniform" },
                "pause_s": pause.as_secs_f64(),
                "width_m": width,
                "height_m": height,
                "within_m": sides.collect::<BTreeMap<_, _>>(),
                "nodes": nodes.iter().map(name).collect::<Vec<_>>(),
            })
        }
    }
}

fn flow(scenario: &Scenario, flow: &Flow) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("id", json!(flow.id));
    put("from", json!(scenario.name_of(flow.from)));
    put("to", json!(scenario.name_of(flow.to)));
    put("scheme", json!(flow.scheme));
    put("dscp", json!(flow.dscp.number()));
    put("segment", json!(flow.segment.0));
    put("window", json!(flow.window));
    put("start_s", json!(flow.start.as_secs_f64()));
    put("stop_s", json!(flow.stop.map(|stop| stop.as_secs_f64())));
    let pauses: Vec<_> =
        flow.pauses.iter().map(|(from, to)| [from.as_secs_f64(), to.as_secs_f64()]).collect();
    put("pauses_s", json!(pauses));
    let id = |node: &NodeId| scenario.name_of(Endpoint::Mesh(*node));
    let names = |path: &Vec<NodeId>| path.iter().map(id).collect::<Vec<_>>();
    put("path", json!(flow.path.as_ref().map(names)));
    put("path_back", json!(flow.path_back.as_ref().map(names)));
    let app = match flow.app {
        App::Ftp => "ftp",
        App::Transfer { bytes } => {
            put("bytes", json!(bytes.0));
            "transfer"
        }
        App::Http { file_mean, file_shape, pause_mean, connection_per_file, clock, counts_unfinished } => {
            put("connection_per_file", json!(connection_per_file));
            let clock = if clock == FileClock::Write { "write" } else { "first-packet" };
            put("file_clock", json!(clock));
            put("unfinished_files", json!(if counts_unfinished { "counted" } else { "left-out" }));
            put("file_mean", json!(file_mean.0));
            put("file_shape", json!(file_shape));
            put("pause_mean_s", json!(pause_mean.as_secs_f64()));
            "http"
        }
        App::Cbr { rate, packet, udp_header } => {
            put("rate_bps", json!(rate.as_bits_per_sec()));
            put("packet", json!(packet.0));
            put("udp_header", json!(udp_header.0));
            "cbr"
        }
        App::Echo { packet, interval, udp_header } => {
            put("packet", json!(packet.0));
            put("interval_s", json!(interval.as_secs_f64()));
            put("udp_header", json!(udp_header.0));
            "echo"
        }
        App::SelfSimilar { rate, packet, udp_header, burst_mean, shape, pause_mean } => {
            put("rate_bps", json!(rate.as_bits_per_sec()));
            put("packet", json!(packet.0));
            put("udp_header", json!(udp_header.0));
            put("burst_mean", json!(burst_mean.0));
            put("file_shape", json!(shape));
            put("pause_mean_s", json!(pause_mean.as_secs_f64()));
            "self-similar"
        }
    };
    put("app", json!(app));
    Value::Object(object)
}
