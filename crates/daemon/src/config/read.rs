//! From the checked tables to the typed configuration.

use super::keys::{MAX_HOPS, ROOT};
use super::{
    Config, Control, Datapath, Edge, EdgeDatapath, Events, Flows, GuardTerms, HopSource, Hops, Host, Hosts,
    Memory, Mesh, Metrics, Mode, Nfqueue, RateSource, Subnet, parameters,
};
use ipnet::IpNet;
use meshpace_gateway::{Equipment, Find, ShaperConfig, ShareBy, Uploading};
use meshpace_keys::Word;
use meshpace_settings::{FileError, Item, Location, Setting, Settings, Value, quoted, shown};
use meshpace_units::Rate;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

const FALLBACK_RATE: Rate = Rate::bits_per_sec(11_000_000);
/// Length of an interface's name (IFNAMSIZ of linux/if.h, less the terminating zero).
const INTERFACE_NAME: usize = 15;

/// The file's tables, once its keys are known to exist.
pub(super) fn settings<'a>(
    file: &str,
    table: &'a meshpace_settings::Table,
) -> Result<Settings<'a>, FileError> {
    Settings::root(&Arc::from(file), &ROOT, table)
}

/// The configuration that they make on a machine with so much memory.
pub(super) fn read(root: &Settings<'_>, memory: Option<Memory>) -> Result<Config, FileError> {
    let scheme = parameters::read(root, memory)?;
    let equipment = scheme.gateway().machine;
    let Equipment { config: gateway, law } =
        equipment.unwrap_or_else(|| panic!("{} has no gateway", scheme.name));
    let datapath = root.choice("datapath", &[("nfqueue", Datapath::Nfqueue), ("ebpf", Datapath::Ebpf)])?;
    let hook = scheme.hook();
    if let (Some(_), Datapath::Ebpf) = (&hook, datapath) {
        let found = format!("\"ebpf\" beside gateway.hook = {:?}", scheme.choice("relay").word);
        return Err(root.at("datapath").error(found, "\"nfqueue\" beside it: no hook runs in the kernel"));
    }
    if gateway.trains > 1 && datapath == Datapath::Ebpf {
        let found = format!("\"ebpf\" beside gateway.gap_trains = {}", gateway.trains);
        let allowed = "\"nfqueue\" beside it: in the kernel packets leave one by one";
        return Err(root.at("datapath").error(found, allowed));
    }
    let mesh = read_mesh(&root.section("mesh")?)?;
    let hosts = read_hosts(&root.section("hosts")?, mesh.rate, gateway.held_max)?;
    let hops = read_hops(&root.section("hops")?)?;
    let host = root.section("host")?;
    Ok(Config {
        mode: root.choice("mode", &MODES)?,
        paced_share: root.value("paced_share")?.real(),
        ab_seed: root.value("ab_seed")?.whole(),
        datapath,
        fallen_back: false,
        subnets: read_subnets(root)?,
        nfqueue: read_nfqueue(&root.section("nfqueue")?, gateway.held_max)?,
        control: read_control(&root.section("control")?)?,
        metrics: Metrics { listen: unless_off(&root.section("metrics")?, "listen", socket_address)? },
        events: read_events(&root.section("events")?)?,
        host: Host {
            cgroup: host.gives("cgroup").then(|| path(&host, "cgroup")).transpose()?,
            hops: host.given("hops")?.map(Setting::count),
            rate: host.given("rate")?.map_or(mesh.rate, rate),
            initial_interval: parameters::initial_interval(&scheme),
        },
        edge: read_edge(&root.section("edge")?)?,
        mesh,
        hops,
        gateway,
        law,
        hook,
        hosts,
        guard: read_guard(&root.section("guard")?)?,
    })
}

/// At the shaper waits at most this part of what may be held.
const SHAPER_PART: usize = 4;

/// Where a rate begins that is found.
const BEGINS: Rate = Rate::bits_per_sec(1_000_000);

/// Between what a rate is found.
fn read_find(settings: &Settings<'_>) -> Result<Find, FileError> {
    let least = rate(settings.value("rate_min")?);
    let most = rate(settings.value("rate_max")?);
    if most < least {
        let allowed = format!("hosts.rate_min or more, {} bit/s", least.as_bits_per_sec());
        return Err(settings.at("rate_max").error(settings.found("rate_max"), allowed));
    }
    let stands = settings.value("stands")?.span();
    Ok(Find { least, most, stands, probes: settings.value("probes")?.count() })
}

/// Links of the mesh's rate are those over which a byte costs one byte.
fn read_hosts(settings: &Settings<'_>, reference: Rate, held_max: usize) -> Result<Hosts, FileError> {
    let (given, find) = match settings.value("rate")? {
        Setting::Text(word) if word == "auto" => (Some(BEGINS), Some(read_find(settings)?)),
        Setting::Text(_) => (None, None),
        given => (Some(rate(given)), None),
    };
    let by = settings.choice("by", ShareBy::MEANINGS)?;
    if find.is_some() && by == ShareBy::Airtime {
        return Err(settings
            .at("by")
            .error(settings.found("by"), "\"bytes\" with rate = \"auto\"".to_owned()));
    }
    let shaper = match given {
        None => None,
        Some(given) => Some(ShaperConfig {
            find,
            by,
            uploads: settings.choice("uploads", Uploading::MEANINGS)?,
            reference,
            overhead: settings.value("overhead")?.bytes(),
            quantum: settings.value("quantum")?.count(),
            target: settings.value("target")?.span(),
            interval: settings.value("interval")?.span(),
            longest: settings.value("longest")?.span(),
            burst: settings.value("burst_time")?.span(),
            packets_max: (held_max / SHAPER_PART).max(1),
            ..ShaperConfig::at(given)
        }),
    };
    Ok(Hosts { shaper, flows: settings.choice("flows", &[("paced", Flows::Paced), ("free", Flows::Free)])? })
}

fn read_guard(settings: &Settings<'_>) -> Result<Option<GuardTerms>, FileError> {
    let terms = GuardTerms {
        block: settings.value("block")?.span(),
        pairs: settings.value("pairs")?.count(),
        loss: settings.value("loss")?.real(),
    };
    Ok(settings.value("on")?.flag().then_some(terms))
}

fn read_control(settings: &Settings<'_>) -> Result<Control, FileError> {
    Ok(Control { socket: path(settings, "socket")?, group: settings.given("group")?.map(Setting::text) })
}

fn read_events(settings: &Settings<'_>) -> Result<Events, FileError> {
    Ok(Events {
        file: unless_off(settings, "file", path)?,
        max_size: settings.value("max_size")?.bytes(),
        keep: settings.value("keep")?.count(),
    })
}

const MODES: [(&str, Mode); 3] = [("off", Mode::Off), ("observe", Mode::Observe), ("pace", Mode::Pace)];

fn read_mesh(settings: &Settings<'_>) -> Result<Mesh, FileError> {
    let interfaces = interfaces(settings)?;
    let prefixes = settings.value("subnets")?.list().into_iter().map(Setting::text);
    let subnets =
        prefixes.map(|text| prefix(&text, &settings.at("subnets"))).collect::<Result<Vec<_>, _>>()?;
    let (rate, rate_source) = match settings.value("rate")? {
        Setting::Text(_) => {
            let fallback = settings.given("fallback_rate")?;
            (fallback.map_or(FALLBACK_RATE, rate), RateSource::Nl80211)
        }
        _ if settings.gives("fallback_rate") => {
            let found = format!("the key with mesh.rate = {}", settings.found("rate"));
            return Err(settings.at("fallback_rate").error(found, "only with mesh.rate = \"nl80211\""));
        }
        given => (rate(given), RateSource::Configured),
    };
    Ok(Mesh { interfaces, subnets, rate, rate_source })
}

/// The names of network interfaces under `interfaces`.
fn interfaces(settings: &Settings<'_>) -> Result<Vec<String>, FileError> {
    let names = settings.value("interfaces")?.list().into_iter().map(Setting::text);
    names
        .map(|name| {
            // Fewer than the kernel takes: what firewall rules would read as a pattern or as quotes is none of them.
            let usable = name.len() <= INTERFACE_NAME
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@".contains(c))
                && !name.starts_with(['-', '.']);
            let wrong = || {
                let allowed = "names of network interfaces: at most 15 letters, digits, or any of . _ - @";
                settings.at("interfaces").error(quoted(&name), allowed)
            };
            if usable { Ok(name.clone()) } else { Err(wrong()) }
        })
        .collect()
}

fn read_hops(settings: &Settings<'_>) -> Result<Hops, FileError> {
    let sources: Vec<_> = settings.value("sources")?.list().into_iter().map(source).collect();
    if let Some(twice) = sources
        .iter()
        .enumerate()
        .find(|(n, source)| sources[..*n].contains(source))
        .map(|(_, source)| source)
    {
        let found = format!("{} twice", quoted(twice.name()));
        return Err(settings.at("sources").error(found, "each source once"));
    }
    let (refresh, expiry) = (settings.value("refresh")?.span(), settings.value("expiry")?.span());
    if expiry < refresh {
        let found = settings.found("expiry");
        let allowed = format!("at least hops.refresh = {} s", refresh.as_secs_f64());
        return Err(settings.at("expiry").error(found, allowed));
    }
    Ok(Hops {
        sources,
        default: settings.value("default")?.count(),
        refresh,
        expiry,
        fixed: read_fixed(settings)?,
        olsr: socket_address(settings, "olsr")?,
        olsr2: socket_address(settings, "olsr2")?,
        babel: socket_address(settings, "babel")?,
    })
}

fn source(word: Setting) -> HopSource {
    let word = word.text();
    let known = HopSource::ALL.into_iter().find(|source| source.name() == word);
    known.unwrap_or_else(|| panic!("hops.sources lets {word} pass"))
}

fn read_fixed(settings: &Settings<'_>) -> Result<Vec<(IpNet, u32)>, FileError> {
    let at = settings.at("static");
    let entries = match settings.item("static").map(|item| &item.value) {
        None => return Ok(Vec::new()),
        Some(Value::Table(entries)) => entries,
        Some(value) => return Err(at.error(value.show(), "a table [hops.static] of prefixes and hops")),
    };
    let entry = |(key, item): &(String, Item)| {
        let at = Location {
            file: at.file.clone(),
            origin: item.origin.clone(),
            key: format!("{}.{}", at.key, quoted(key)),
        };
        let hops = match item.value {
            Value::Integer(hops) => u32::try_from(hops).ok(),
            _ => None,
        };
        let hops = hops.filter(|hops| (1..=MAX_HOPS).contains(&u64::from(*hops)));
        let wrong = || at.error(item.value.show(), format!("a whole number from 1 to {MAX_HOPS}"));
        Ok((prefix(key, &at)?, hops.ok_or_else(wrong)?))
    };
    let fixed = entries.entries.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    longest_first(
        fixed,
        |(prefix, _)| *prefix,
        |n| {
            let (key, item) = &entries.entries[n];
            Location {
                file: at.file.clone(),
                origin: item.origin.clone(),
                key: format!("{}.{}", at.key, quoted(key)),
            }
        },
    )
}

fn read_subnets(root: &Settings<'_>) -> Result<Vec<Subnet>, FileError> {
    let tables = root.sections("subnet")?;
    let subnet = |settings: &Settings<'_>| {
        Ok(Subnet {
            prefix: prefix(&settings.value("prefix")?.text(), &settings.at("prefix"))?,
            mode: if settings.gives("mode") { Some(settings.choice("mode", &MODES)?) } else { None },
            paced_share: settings.given("paced_share")?.map(Setting::real),
            hops: settings.given("hops")?.map(Setting::count),
            rate: settings.given("rate")?.map(rate),
            weight: settings.given("weight")?.map(Setting::count),
            cap: settings.given("cap")?.map(rate),
            together: settings.given("together")?.map(Setting::flag),
        })
    };
    let subnets = tables.iter().map(subnet).collect::<Result<Vec<_>, _>>()?;
    longest_first(subnets, |subnet| subnet.prefix, |n| tables[n].at("prefix"))
}

/// Longest prefixes first, so that the first that matches is the one that counts; no prefix twice.
fn longest_first<T>(
    entries: Vec<T>,
    prefix_of: impl Fn(&T) -> IpNet,
    at: impl Fn(usize) -> Location,
) -> Result<Vec<T>, FileError> {
    let mut ordered: Vec<_> = entries.into_iter().enumerate().collect();
    ordered.sort_by_key(|(n, entry)| {
        let prefix = prefix_of(entry);
        (std::cmp::Reverse(prefix.prefix_len()), prefix, *n)
    });
    for pair in ordered.windows(2) {
        let [(_, first), (n, second)] = pair else { panic!("windows of two have two") };
        if prefix_of(first) == prefix_of(second) {
            return Err(at(*n).error(format!("{} a second time", prefix_of(second)), "each prefix once"));
        }
    }
    Ok(ordered.into_iter().map(|(_, entry)| entry).collect())
}

fn read_nfqueue(settings: &Settings<'_>, held_max: usize) -> Result<Nfqueue, FileError> {
    let length = settings.given("length")?.map(Setting::count);
    // Room for as many again on their way to a decision.
    let length = length.unwrap_or_else(|| u32::try_from(held_max).unwrap_or(u32::MAX).saturating_mul(2));
    if length as usize <= held_max {
        let found = settings.found("length");
        return Err(settings
            .at("length")
            .error(found, format!("more than gateway.gap_held_max = {held_max}")));
    }
    let queue = settings.value("queue")?.whole();
    Ok(Nfqueue {
        queue: u16::try_from(queue).unwrap_or_else(|_| panic!("nfqueue.queue lets {queue} pass")),
        length,
        socket_buffer: settings.value("socket_buffer")?.bytes(),
        observed_max: match settings.value("observed_max")? {
            Setting::Text(_) => None,
            most => Some(most.count()),
        },
        realtime: settings.value("realtime")?.flag(),
    })
}

fn read_edge(settings: &Settings<'_>) -> Result<Edge, FileError> {
    let datapaths =
        [("auto", EdgeDatapath::Auto), ("ebpf", EdgeDatapath::Ebpf), ("nfqueue", EdgeDatapath::Nfqueue)];
    let queue = settings.value("queue")?.whole();
    Ok(Edge {
        interfaces: interfaces(settings)?,
        datapath: settings.choice("datapath", &datapaths)?,
        bytes: settings.value("bytes")?.bytes(),
        share: settings.value("share")?.count(),
        wait: settings.value("wait")?.span(),
        tail: settings.value("tail")?.span(),
        flows: settings.value("flows")?.count(),
        held: settings.value("held")?.count(),
        queue: u16::try_from(queue).unwrap_or_else(|_| panic!("edge.queue lets {queue} pass")),
        socket: path(settings, "socket")?,
        listen: unless_off(settings, "listen", socket_address)?,
    })
}

fn rate(setting: Setting) -> Rate {
    Rate::bits_per_sec(setting.whole())
}

/// A prefix, or an address alone; bits behind the prefix must be zero, since they show a typing error.
fn prefix(text: &str, at: &Location) -> Result<IpNet, FileError> {
    let parsed = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    match parsed {
        Some(prefix) if prefix.trunc() == prefix => Ok(prefix),
        Some(prefix) => Err(at.error(quoted(text), format!("no bits behind the prefix: {}", prefix.trunc()))),
        None => Err(at.error(quoted(text), "a prefix such as \"10.1.2.0/24\" or \"fd00:1::/48\"")),
    }
}

fn socket_address(settings: &Settings<'_>, key: &str) -> Result<SocketAddr, FileError> {
    let text = settings.value(key)?.text();
    let wrong = || {
        let allowed = "an address and a port such as \"127.0.0.1:9733\" or \"[::1]:9733\"";
        settings.at(key).error(quoted(&text), allowed)
    };
    text.parse().map_err(|_| wrong())
}

fn path(settings: &Settings<'_>, key: &str) -> Result<PathBuf, FileError> {
    Ok(PathBuf::from(settings.value(key)?.text()))
}

/// `None` for the word "off".
fn unless_off<T>(
    settings: &Settings<'_>,
    key: &str,
    read: impl Fn(&Settings<'_>, &str) -> Result<T, FileError>,
) -> Result<Option<T>, FileError> {
    if settings.value(key)?.text() == "off" { Ok(None) } else { read(settings, key).map(Some) }
}

/// The error for a file that names no part of the mesh.
pub(super) fn nothing_is_mesh(root: &Settings<'_>) -> FileError {
    let allowed = "at least one of mesh.interfaces and mesh.subnets, such as interfaces = [\"mesh0\"]";
    Location { key: shown("mesh"), ..root.at("mesh") }.error("neither interfaces nor subnets", allowed)
}
