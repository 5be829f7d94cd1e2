//! The thread that asks, and the handle through which its table is read.

use super::delivered::Delivered;
use super::knowledge::Knowledge;
use super::table::Table;
use super::wireless::Interface;
use super::{babel, olsr};
use crate::config::{Config, HopSource};
use arc_swap::{ArcSwap, Guard};
use ipnet::IpNet;
use meshpace_linux::monotonic_now;
use meshpace_units::Rate;
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The present table; cheap to copy, readable from any thread without waiting.
#[derive(Clone, Debug)]
pub struct Directory {
    table: Arc<ArcSwap<Table>>,
    /// What got across, for the tables to come.
    delivered: Arc<Mutex<Delivered>>,
}

impl Directory {
    /// A directory of what the configuration alone says.
    #[must_use]
    pub fn fixed(config: Arc<Config>) -> Self {
        Self { table: Arc::new(ArcSwap::from_pointee(Table::new(config))), delivered: Arc::default() }
    }

    /// Flows of these hosts got so much across so many hops; the next tables know it.
    pub fn hear(&self, flows: &[(IpAddr, Rate, u32)]) {
        let mut delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        flows.iter().for_each(|&(host, goodput, hops)| delivered.hear(host, goodput, hops));
    }

    fn delivered(&self) -> Delivered {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The present table. Hold it for a packet, not for long: the guard is one of a few that cost nothing.
    #[must_use]
    pub fn table(&self) -> Guard<Arc<Table>> {
        self.table.load()
    }
}

/// The thread that keeps a [`Directory`] up to date. It ends with this, after the question under way; nobody waits for
/// that, since a program that hangs may take ten seconds to give up on.
#[derive(Debug)]
pub struct Refresher {
    orders: Sender<Arc<Config>>,
    directory: Directory,
}

impl Refresher {
    /// Starts the thread. Its first answers are there after a moment; until then the directory is
    /// [`Directory::fixed`].
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(config: Arc<Config>) -> io::Result<Self> {
        let directory = Directory::fixed(config.clone());
        let (orders, receiver) = channel();
        let published = directory.clone();
        let known = Knowledge::new(config);
        Builder::new().name("hops".to_owned()).spawn(move || keep_up(&published, known, &receiver))?;
        Ok(Self { orders, directory })
    }

    /// Where the tables are published.
    #[must_use]
    pub const fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Another configuration; in force in the directory as soon as the thread has asked the sources.
    pub fn reload(&self, config: Arc<Config>) {
        // The thread only ends before its sender if it panicked; the last table then stays.
        let _ = self.orders.send(config);
    }
}

/// Asks every source once, now.
#[must_use]
pub fn survey(config: Arc<Config>) -> Table {
    let mut known = Knowledge::new(config);
    refresh(&mut known);
    known.table(monotonic_now())
}

fn keep_up(published: &Directory, mut known: Knowledge, orders: &Receiver<Arc<Config>>) {
    loop {
        refresh(&mut known);
        known.hear_delivered(published.delivered());
        published.table.store(Arc::new(known.table(monotonic_now())));
        let pause = Duration::from_nanos(known.config().hops.refresh.as_nanos());
        match orders.recv_timeout(pause) {
            Ok(config) => {
                // Only the newest of several counts.
                known.reconfigure(orders.try_iter().last().unwrap_or(config));
                published.table.store(Arc::new(known.table(monotonic_now())));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Asks every source once.
fn refresh(known: &mut Knowledge) {
    let config = known.config().clone();
    let sources = known.to_ask();
    if sources.contains(&HopSource::Mpath) || known.wants_rates() {
        let interfaces: BTreeMap<&String, Result<Interface, String>> =
            config.mesh.interfaces.iter().map(|name| (name, Interface::ask(name))).collect();
        if sources.contains(&HopSource::Mpath) {
            known.hear_hops(monotonic_now(), HopSource::Mpath, merge(&interfaces, hops));
        }
        if known.wants_rates() {
            known.hear_rates(monotonic_now(), merge(&interfaces, |_, interface| Ok(interface.rates())));
        }
    }
    for source in sources {
        let answer = match source {
            HopSource::Olsr => olsr::olsrd(config.hops.olsr),
            HopSource::Olsr2 => olsr::olsrd2(config.hops.olsr2),
            HopSource::Babel => babel::routes(config.hops.babel),
            _ => continue,
        };
        known.hear_hops(monotonic_now(), source, answer);
    }
}

fn hops(name: &str, interface: &Interface) -> Result<Vec<(IpNet, u32)>, String> {
    if interface.hides_hops() {
        return Err(format!("{name}: this iw or kernel does not tell the hops of mesh paths"));
    }
    Ok(interface.hops())
}

/// What all interfaces know together; an error only if none knows anything.
fn merge<T>(
    interfaces: &BTreeMap<&String, Result<Interface, String>>,
    read: impl Fn(&str, &Interface) -> Result<Vec<(IpNet, T)>, String>,
) -> Result<Vec<(IpNet, T)>, String> {
    let (mut entries, mut problems) = (None, Vec::new());
    for (name, interface) in interfaces {
        match interface.as_ref().map_err(Clone::clone).and_then(|interface| read(name, interface)) {
            Ok(more) => entries.get_or_insert_with(Vec::new).extend(more),
            Err(problem) => problems.push(problem),
        }
    }
    entries
        .ok_or_else(|| if problems.is_empty() { "no mesh interface".to_owned() } else { problems.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example::PATIENCE;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_routing_daemons_table_reaches_the_directory_and_a_reload_replaces_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let babeld = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_to_string(&mut String::new()).unwrap();
            let answer = b"BABEL 1.0\nok\nadd route 1 prefix 10.1.0.9/32 from ::/0 installed yes id x metric 288 refmetric 192 via fe80::1 if m\nok\n";
            stream.write_all(answer).unwrap();
        });
        let text = format!("[hops]\nsources = [\"babel\"]\nbabel = \"{at}\"\n");
        let config = Arc::new(Config::parse("a.toml", text.as_bytes()).unwrap());
        let refresher = Refresher::start(config).unwrap();
        let directory = refresher.directory().clone();
        let host = "10.1.0.9".parse().unwrap();
        babeld.join().unwrap();
        wait_until(|| directory.table().way(host, None).source == HopSource::Babel);
        assert_eq!(directory.table().way(host, None).hops, 3);
        let text = "[hops]\nsources = [\"static\"]\n[hops.static]\n\"10.0.0.0/8\" = 5\n";
        refresher.reload(Arc::new(Config::parse("b.toml", text.as_bytes()).unwrap()));
        wait_until(|| directory.table().way(host, None).source == HopSource::Static);
        assert_eq!(directory.table().way(host, None).hops, 5);
        drop(refresher);
    }

    fn wait_until(what: impl Fn() -> bool) {
        let end = monotonic_now() + PATIENCE;
        while !what() {
            assert!(monotonic_now() < end, "not within {PATIENCE:?}");
            std::thread::yield_now();
        }
    }
}
