//! The readers of what other programs send, each by itself, for the fuzz targets (docs/fuzzing.md): what they find, or
//! `None`. Feature `foreign`; no part of the daemon uses it.

use crate::control::connection::{Lines, NoLine};
use crate::control::protocol::Request;
use crate::hops::{babel, iw, olsr};
use crate::metrics::http;
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
