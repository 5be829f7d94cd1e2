//! The readers of what other programs send, each by itself, for the fuzz targets (docs/fuzzing.md): what they find, or
//! `None`. Feature `foreign`; no part of the daemon uses it.

use crate::control::connection::{Lines, NoLine};
use crate::control::protocol::Request;
use crate::hops::links::Links;
use crate::hops::{babel, iw, olsr};
use crate::metrics::http;
use crate::{doctor, foresight, init, trial};
use ipnet::IpNet;
use std::io::{self, Read};

/// What the kernel sends.
pub use meshpace_linux::foreign as kernel;

/// The longest line that a control client may send, in bytes.
pub const REQUEST_MAX: usize = crate::control::connection::REQUEST_MAX;

/// Bytes that come in pieces of a given size, and then nothing more.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.size.max(1).min(buffer.len()).min(self.rest.len());
        let (now, later) = self.rest.split_at(size);
        buffer[..size].copy_from_slice(now);
        self.rest = later;
        Ok(size)
    }
}

/// The path that a scraper's bytes ask for, and whether it wants the head only; bytes come `size` at a time.
#[must_use]
pub fn scrape(bytes: &[u8], size: usize) -> Option<(String, bool)> {
    let asked = http::read(&mut Pieces { rest: bytes, size }, || false).ok()?.ok()?;
    Some((asked.path, asked.head_only))
}

/// The lines of a control client and the requests in them (`None`: no request), until it is refused or gone.
#[must_use]
pub fn requests(bytes: &[u8], size: usize) -> Vec<(Vec<u8>, Option<Request>)> {
    let mut lines = Lines::new(Pieces { rest: bytes, size });
    let mut found = Vec::new();
    loop {
        match lines.next() {
            Ok(line) => {
                let request = serde_json::from_slice(&line).ok();
                found.push((line, request));
            }
            Err(NoLine::Closed | NoLine::TooLong | NoLine::Unfinished) => return found,
        }
    }
}

/// Prefixes and hops, as babeld's local interface, olsrd's jsoninfo or olsrd2's olsrv2info may tell them.
#[must_use]
pub fn routes(text: &str) -> [Option<Vec<(IpNet, u32)>>; 3] {
    [babel::parse(text).ok(), olsr::parse_jsoninfo(text), olsr::parse_olsrv2info(text)]
}

/// A path as `iw` tells it: hops, and mean rate in bit/s.
pub type IwPath = (Option<u32>, Option<u64>);

/// The answers of `iw`: the paths, the number of proxied hosts, and the neighbours' bitrates, in bit/s.
#[must_use]
pub fn iw(text: &str) -> (Vec<IwPath>, usize, Vec<u64>) {
    let bits = |rate: meshpace_units::Rate| rate.as_bits_per_sec();
    let paths = iw::paths(text).into_values().map(|path| (path.hops, path.mean_rate().map(bits))).collect();
    (paths, iw::proxies(text).len(), iw::bitrates(text).into_values().map(bits).collect())
}

/// What is told of a trial's file, as text and as a page; `None`: it is none.
#[must_use]
pub fn trial_file(text: &str) -> Option<[String; 2]> {
    trial::told(text)
}

/// Foretold and measured rates of a file of forecasts; `None`: it is none.
#[must_use]
pub fn forecasts(text: &[u8]) -> Option<Vec<[f64; 2]>> {
    let outcomes = foresight::kept::outcomes(text).ok()?;
    Some(outcomes.iter().map(|outcome| [outcome.foretold_bps, outcome.measured_bps]).collect())
}

/// Hosts and prefixes behind neighbours, of two answers of `ip`.
#[must_use]
pub fn neighbours(neighbours: &str, routes: &str) -> Vec<IpNet> {
    Links::parse(neighbours, routes).iter().map(|(prefix, _)| prefix).collect()
}

/// How many things are found in an answer, read as one of `ip link`, `ethtool`, `iw`, `nft`, `iw dev`, `ip route`, `tc` (twice).
#[must_use]
pub fn tools(text: &str) -> Vec<usize> {
    use doctor::network::{flowtables, links, offloads, wireless};
    let mut found = vec![
        links(text).map_or(0, |links| links.len()),
        offloads(text).len(),
        usize::from(wireless(text).is_some()),
        flowtables(text).len(),
        init::find::types(text).len(),
        init::find::devices(text).len(),
    ];
    #[cfg(feature = "ebpf")]
    if let Ok(listed) = serde_json::from_str(text) {
        use crate::ebpf::qdisc::{Root, root_of, waiting};
        found.push(usize::from(waiting(&listed) > 0));
        found.push(usize::from(root_of(&listed) != Root::Default));
    }
    found.shrink_to_fit();
    found
}

/// What programs in the kernel tell.
#[cfg(feature = "ebpf")]
pub mod programs {
    use crate::congestion::exchange::Flow;
    use crate::congestion::types::{FUNCTION, STRUCT, Types};
    use crate::shared::{edge, gateway, host, shaping};
    use crate::{ebpf, edge as at_edge, host as at_host};

    /// Which of the programs tell such a thing: the gateway's, the shaper, the edge's, the host's. Nothing is told in another length than its struct's.
    #[must_use]
    pub fn events(bytes: &[u8]) -> [bool; 4] {
        let told = [
            (ebpf::exchange::Event::read(bytes).is_some(), gateway::Event::SIZE),
            (ebpf::shaping::exchange::Measurement::read(bytes).is_some(), shaping::Told::SIZE),
            (at_edge::exchange::Event::read(bytes).is_some(), edge::EdgeEvent::SIZE),
            (at_host::Report::read(bytes).is_some(), host::Report::SIZE),
        ];
        told.map(|(told, size)| {
            assert!(!told || bytes.len() == size, "{} bytes, of {size}", bytes.len());
            told
        })
    }

    /// The rates, round trips and queueing delays of the connections that calm's iterator tells of.
    pub fn connections(bytes: &[u8]) -> impl Iterator<Item = (f64, Option<f64>, Option<f64>)> {
        Flow::read(bytes).map(|flow| (flow.rate, flow.base, flow.queue))
    }

    /// Where the member of a structure is in a kernel's types, with the structure's size and the member's number of arguments; `None`: these are no
    /// types, or there is none of that name.
    #[must_use]
    pub fn member(types: &[u8], structure: &str, name: &str) -> Option<(usize, usize, Option<u32>)> {
        let types = Types::read(types.to_vec())?;
        // Whether there is a function of that name is nobody's business here, but it is read.
        let _ = types.id(FUNCTION, name);
        let id = types.id(STRUCT, structure).ok()?;
        let member = types.member(id, name)?;
        Some((member.offset, types.size(id), types.arguments(member)))
    }
}
