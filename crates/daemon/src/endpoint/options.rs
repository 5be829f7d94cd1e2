//! What all commands of an endpoint share: its device, its addresses, what its connections are made of.

use super::impairment;
use crate::Failure;
use meshpace_endpoint::{
    Device, Endpoint, ImpairmentConfig, LiveOptions, MTU, MTU_MIN_V6, Prefix, SocketOptions,
};
use meshpace_pacing::Route;
use meshpace_schemes::{Catalogue, SchemeSetting};
use meshpace_settings::RawValue;
use meshpace_tcp::{KeepAlive, SackOffer};
use meshpace_units::quantity::{RATE, SIZE, TIME, Unit};
use meshpace_units::{Rate, Span};
use std::net::IpAddr;

/// The smallest MTU that an endpoint works with: below it headers and options leave no room for data.
const MTU_MIN: u32 = 296;

/// Device and connections.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Name of the TUN device that is made; %d becomes the first free number.
    #[arg(long, value_name = "NAME", default_value = "meshpace%d")]
    tun: String,
    /// Address of the endpoint, behind the device, and the network that it shares with the kernel's side; one for
    /// each version of IP.
    #[arg(long, value_name = "ADDRESS/BITS", required = true)]
    address: Vec<Prefix>,
    /// Address of the kernel's side; the first of the network by default.
    #[arg(long, value_name = "ADDRESS")]
    peer: Vec<IpAddr>,
    /// The longest packet, bytes.
    #[arg(long, value_name = "BYTES", default_value_t = MTU)]
    mtu: u32,
    /// Packets that may wait for the endpoint; the kernel's default (500) if not given.
    #[arg(long, value_name = "PACKETS")]
    queue_length: Option<u32>,
    /// The scheme whose sender and receiver the connections have.
    #[arg(long, value_name = "NAME", default_value = "newreno-rfc")]
    scheme: String,
    /// Change a parameter of the scheme.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Wireless hops of the path, for schemes that ask.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    hops: Option<u32>,
    /// Data rate of the wireless links, for schemes that ask.
    #[arg(long, value_name = "RATE", default_value = "11Mbps", value_parser = rate)]
    rate: Rate,
    /// Limit of the sender's window in segments; the receiver's window alone if not given.
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u32).range(1..))]
    window: Option<u32>,
    /// Size of the receive buffer.
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = buffer)]
    receive_buffer: u32,
    /// Size of the send buffer.
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = buffer)]
    send_buffer: u32,
    /// Send small segments at once (no Nagle algorithm).
    #[arg(long)]
    no_delay: bool,
    /// Do not offer timestamps.
    #[arg(long)]
    no_timestamps: bool,
    /// Do not offer window scaling.
    #[arg(long)]
    no_window_scale: bool,
    /// Do not offer selective acknowledgements, whatever the scheme asks for.
    #[arg(long)]
    no_sack: bool,
    /// Offer explicit congestion notification.
    #[arg(long)]
    ecn: bool,
    /// Probe a silent peer after IDLE, then every INTERVAL, and give it up after PROBES unanswered ones.
    #[arg(long, value_name = "IDLE,INTERVAL,PROBES", value_parser = keep_alive)]
    keep_alive: Option<KeepAlive>,
    /// A bad network between endpoint and device, both directions: loss, duplicate, reorder, corrupt, mark (1%), delay,
    /// reorder-by (5ms), seed.
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = impairment::parse)]
    impair: Option<ImpairmentConfig>,
    /// Statistics as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// The device in use and what its connections are made of.
pub(super) struct Running {
    pub(super) endpoint: Endpoint,
    pub(super) socket: SocketOptions,
    pub(super) scheme: String,
    pub(super) impaired: bool,
    pub(super) json: bool,
}

impl Options {
    /// Makes the device.
    pub(super) fn start(&self) -> Result<Running, Failure> {
        let socket = self.socket()?;
        let device = self.device()?;
        let endpoint = Endpoint::open(&device).map_err(|error| Failure::Operational(error.to_string()))?;
        let addresses: Vec<String> = self.address.iter().map(|prefix| prefix.address.to_string()).collect();
        eprintln!(
            "meshpaced: {} behind {}, scheme {}",
            addresses.join(" and "),
            endpoint.device(),
            self.scheme
        );
        Ok(Running {
            endpoint,
            socket,
            scheme: self.scheme.clone(),
            impaired: self.impair.is_some(),
            json: self.json,
        })
    }

    fn device(&self) -> Result<Device, Failure> {
        let v6 = self.address.iter().any(|prefix| prefix.address.is_ipv6());
        let least = if v6 { MTU_MIN_V6 } else { MTU_MIN };
        if !(least..=65_535).contains(&self.mtu) {
            return Err(user("--mtu", &self.mtu.to_string(), &format!("{least} to 65535 bytes")));
        }
        let versions = |v6: bool| self.address.iter().any(|prefix| prefix.address.is_ipv6() == v6);
        if let Some(peer) = self.peer.iter().find(|peer| !versions(peer.is_ipv6())) {
            return Err(user("--peer", &peer.to_string(), "an address of a version that an --address has"));
        }
        Ok(Device {
            name: self.tun.clone(),
            addresses: self.address.clone(),
            peers: self.peer.clone(),
            mtu: self.mtu,
            queue_length: self.queue_length,
            impairment: self.impair,
        })
    }

    fn socket(&self) -> Result<SocketOptions, Failure> {
        let settings =
            self.set.iter().map(|text| setting(&self.scheme, text)).collect::<Result<Vec<_>, _>>()?;
        let catalogue = Catalogue::new(&[]).map_err(|error| Failure::User(error.to_string()))?;
        // First of all whether there is such a scheme: a setting of another one would be taken for a new scheme's.
        catalogue
            .get(&self.scheme)
            .map_err(|error| user("--scheme", &format!("{:?}", error.name), &error.allowed))?;
        let catalogue = Catalogue::new(&settings).map_err(|refused| {
            user(&format!("--set {}", refused.error.key), &refused.error.found, &refused.error.allowed)
        })?;
        let scheme = catalogue.get(&self.scheme).map_err(|error| Failure::User(error.to_string()))?;
        let options = SocketOptions::from_scheme(
            scheme,
            &LiveOptions {
                route: Route::uniform(self.hops, self.rate),
                window: self.window,
                receive_buffer: self.receive_buffer,
                send_buffer: self.send_buffer as usize,
                nagle: !self.no_delay,
                keep_alive: self.keep_alive,
                timestamps: !self.no_timestamps,
                window_scaling: !self.no_window_scale,
                sack: if self.no_sack { SackOffer::Never } else { SackOffer::Always },
                ecn: self.ecn,
            },
        );
        if options.tcp.control.asks().relays.is_some() {
            let allowed = "a scheme whose sender does not depend on what routers answer";
            return Err(user("--scheme", &format!("{:?}", self.scheme), allowed));
        }
        Ok(options)
    }
}

fn user(key: &str, found: &str, allowed: &str) -> Failure {
    Failure::User(format!("{key}: found {found}; allowed: {allowed}"))
}

/// `key=value`, the value as in the scenario file: TOML, else a string.
fn setting(scheme: &str, text: &str) -> Result<SchemeSetting, Failure> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(user("--set", &format!("{text:?}"), "KEY=VALUE with a parameter of the scheme"));
    };
    let value = match meshpace_settings::Value::parse(value).and_then(|value| value.raw()) {
        Some(raw) => raw,
        None => RawValue::from(value),
    };
    Ok(SchemeSetting { scheme: scheme.to_owned(), key: key.trim().to_owned(), value })
}

/// A number with its unit.
pub(super) fn quantity(unit: &'static Unit, text: &str, least: f64, most: f64) -> Result<f64, String> {
    let value =
        unit.parse(text).or_else(|| text.trim().parse().ok()).filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| {
        format!(
            "found {text:?}; allowed: {} as {}, {} to {}",
            unit.noun,
            unit.example,
            unit.show(least),
            unit.show(most)
        )
    })
}

fn rate(text: &str) -> Result<Rate, String> {
    quantity(&RATE, text, 1.0, 1e12).map(|rate| Rate::bits_per_sec(rate as u64))
}

/// A buffer: at least a segment, at most what window scaling can tell (RFC 7323, section 2.3).
fn buffer(text: &str) -> Result<u32, String> {
    quantity(&SIZE, text, 1500.0, f64::from(1 << 30)).map(|size| size as u32)
}

pub(super) fn time(text: &str) -> Result<Span, String> {
    quantity(&TIME, text, 0.001, 1e6).map(Span::from_secs_f64)
}

fn keep_alive(text: &str) -> Result<KeepAlive, String> {
    let parts: Vec<&str> = text.split(',').collect();
    let [idle, interval, probes] = parts[..] else {
        return Err(format!("found {text:?}; allowed: IDLE,INTERVAL,PROBES as \"60s,10s,5\""));
    };
    let probes = probes.trim().parse().ok().filter(|probes| (1..=100).contains(probes));
    let probes = probes.ok_or_else(|| format!("found {text:?}; allowed: 1 to 100 probes"))?;
    Ok(KeepAlive { idle: time(idle)?, interval: time(interval)?, probes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    fn options(arguments: &str) -> Options {
        let arguments = ["x", "--address", "10.0.0.2/24"].into_iter().chain(arguments.split_whitespace());
        Command::try_parse_from(arguments).expect("good arguments").options
    }

    #[test]
    fn settings_reach_the_connection() {
        let given =
            options("--scheme fixed-rate --set fixed_rate=12Mbps --set rto_min=0.3 --window 9 --no-delay");
        let tcp = given.socket().expect("a good scheme").tcp;
        assert_eq!(tcp.control.pacing().interval, Some(Span::from_millis(1)));
        assert_eq!((tcp.window, tcp.nagle), (Some(9), false));
        let meshpace_tcp::RtoConfig::Ticks(rto) = tcp.rto else { panic!("{:?}", tcp.rto) };
        assert_eq!(rto.min, Span::from_millis(300));
    }

    #[test]
    fn no_sack_is_no_sack_whatever_the_scheme_asks_for() {
        for (arguments, offer) in [
            ("--scheme sack-rfc --no-sack", SackOffer::Never),
            ("--scheme sack-rfc", SackOffer::Always),
            ("--scheme newreno-rfc", SackOffer::Always),
        ] {
            assert_eq!(options(arguments).socket().expect(arguments).tcp.sack, offer, "{arguments}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_what_is_allowed() {
        for (arguments, told) in [
            (
                "--scheme tcp-gab",
                "--scheme: found \"tcp-gab\"; allowed: bbr, bbr3, calm, calm-edge, calm-gateway, copa, cubic, ",
            ),
            (
                "--scheme newreno --set n=4",
                "--set n: found a parameter of other schemes; allowed: the parameters of newreno",
            ),
            (
                "--scheme xcp",
                "--scheme: found \"xcp\"; allowed: a scheme whose sender does not depend on what routers",
            ),
            ("--set rto_min=x", "--set rto_min: found \"x\"; allowed"),
            ("--set rto_min", "--set: found \"rto_min\"; allowed: KEY=VALUE"),
        ] {
            let error = options(arguments).socket().expect_err(arguments).to_string();
            assert!(error.starts_with(told), "{error}");
        }
        let error = options("--mtu 200").device().expect_err("too small").to_string();
        assert_eq!(error, "--mtu: found 200; allowed: 296 to 65535 bytes");
        let error = options("--peer fd00::1").device().expect_err("no IPv6").to_string();
        assert!(error.starts_with("--peer: found fd00::1"), "{error}");
        assert!(keep_alive("60s,10s").is_err() && keep_alive("60s,10s,0").is_err());
        let all = KeepAlive { idle: Span::from_secs(60), interval: Span::from_secs(10), probes: 5 };
        assert_eq!(keep_alive("1min,10s,5"), Ok(all));
    }
}
