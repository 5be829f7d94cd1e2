//! What the sources answered, how old it is, and the table that follows.

use super::delivered::Delivered;
use super::prefix_map::PrefixMap;
use super::table::{SourceReport, Table};
use crate::config::{Config, HopSource, RateSource};
use ipnet::IpNet;
use meshpace_units::{Instant, Rate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The shortest prefixes that meshes have: 10.0.0.0/8 and fd00::/8.
const SHORTEST: u8 = 8;

/// The last answers.
#[derive(Debug)]
pub(super) struct Knowledge {
    config: Arc<Config>,
    hops: BTreeMap<HopSource, Known<u32>>,
    rates: Known<Rate>,
    delivered: Delivered,
    generation: u64,
}

/// One source's last answer.
#[derive(Clone, Debug)]
struct Known<T> {
    entries: PrefixMap<T>,
    answered: Option<Instant>,
    problem: Option<String>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { entries: PrefixMap::default(), answered: None, problem: None }
    }
}

impl<T> Known<T> {
    fn hear(&mut self, now: Instant, answer: Result<Vec<(IpNet, T)>, String>) {
        match answer {
            Ok(entries) => {
                *self = Self { entries: entries.into_iter().collect(), answered: Some(now), problem: None }
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn forget(&mut self, now: Instant, config: &Config) {
        if self.answered.is_some_and(|answered| now.saturating_since(answered) >= config.hops.expiry) {
            self.entries = PrefixMap::default();
        }
    }
}

impl Knowledge {
    pub(super) fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            hops: BTreeMap::new(),
            rates: Known::default(),
            delivered: Delivered::default(),
            generation: 0,
        }
    }

    pub(super) const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The sources that take a question to another program: those that this host cannot answer by itself.
    pub(super) fn to_ask(&self) -> Vec<HopSource> {
        let asked =
            |source: &HopSource| !matches!(source, HopSource::Static | HopSource::Ttl | HopSource::Default);
        self.config.hops.sources.iter().copied().filter(asked).collect()
    }

    /// True if bitrates are wanted.
    pub(super) fn wants_rates(&self) -> bool {
        self.config.mesh.rate_source == RateSource::Nl80211
    }

    /// Another configuration: answers of sources that are still asked stay.
    pub(super) fn reconfigure(&mut self, config: Arc<Config>) {
        self.config = config;
        let asked = self.to_ask();
        self.hops.retain(|source, _| asked.contains(source));
        if !self.wants_rates() {
            self.rates = Known::default();
        }
    }

    /// A source's answer, or why it gave none; the old answer is kept until it expires. A default route, whole (0.0.0.0/0) or
    /// in parts (2000::/3, olsrd's), leads out of the mesh at some other gateway: it says nothing of mesh hosts.
    pub(super) fn hear_hops(
        &mut self,
        now: Instant,
        source: HopSource,
        answer: Result<Vec<(IpNet, u32)>, String>,
    ) {
        let of_hosts = |entries: Vec<(IpNet, u32)>| {
            entries.into_iter().filter(|(prefix, _)| prefix.prefix_len() >= SHORTEST).collect()
        };
        self.hops.entry(source).or_default().hear(now, answer.map(of_hosts));
    }

    /// The bitrates, or why there are none.
    pub(super) fn hear_rates(&mut self, now: Instant, answer: Result<Vec<(IpNet, Rate)>, String>) {
        self.rates.hear(now, answer);
    }

    /// What got across.
    pub(super) fn hear_delivered(&mut self, delivered: Delivered) {
        self.delivered = delivered;
    }

    /// The table of what is known and not expired.
    pub(super) fn table(&mut self, now: Instant) -> Table {
        for known in self.hops.values_mut() {
            known.forget(now, &self.config);
        }
        self.rates.forget(now, &self.config);
        self.generation += 1;
        let report = |source| {
            let known = self.hops.get(&source).cloned().unwrap_or_default();
            let Known { entries, answered, problem } = known;
            SourceReport { source, entries: entries.len(), answered, problem }
        };
        Table {
            generation: self.generation,
            learned: self.hops.iter().map(|(source, known)| (*source, known.entries.clone())).collect(),
            rates: self.rates.entries.clone(),
            delivered: self.delivered.clone(),
            reports: self.to_ask().into_iter().map(report).collect(),
            ..Table::new(self.config.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ReceivedTtl;
    use super::super::table::WirelessPath;
    use super::*;
    use std::net::IpAddr;

    fn knowledge(text: &str) -> Knowledge {
        Knowledge::new(Arc::new(Config::parse("a.toml", text.as_bytes()).unwrap()))
    }

    fn at(secs: u64) -> Instant {
        Instant::from_nanos(secs * 1_000_000_000)
    }

    fn entries(entries: &[(&str, u32)]) -> Result<Vec<(IpNet, u32)>, String> {
        Ok(entries.iter().map(|(prefix, hops)| (prefix.parse().unwrap(), *hops)).collect())
    }

    fn hops(table: &Table, host: &str) -> (u32, HopSource) {
        let WirelessPath { hops, source, .. } = table.way(host.parse().unwrap(), None);
        (hops, source)
    }

    #[test]
    fn the_first_source_in_the_configured_order_that_knows_a_host_is_believed() {
        let mut known = knowledge(
            "[hops]\nsources = [\"olsr\", \"static\", \"ttl\", \"802.11s\"]\ndefault = 6\n[hops.static]\n\"10.1.0.0/16\" = 2\n\
             [[subnet]]\nprefix = \"10.1.9.0/24\"\nhops = 7\n",
        );
        assert_eq!(known.to_ask(), [HopSource::Olsr, HopSource::Mpath]);
        known.hear_hops(at(0), HopSource::Olsr, entries(&[("10.1.2.0/24", 3)]));
        known.hear_hops(at(0), HopSource::Mpath, entries(&[("10.1.3.3/32", 9), ("10.5.5.5/32", 5)]));
        let table = known.table(at(1));
        assert_eq!(hops(&table, "10.1.2.3"), (3, HopSource::Olsr));
        assert_eq!(hops(&table, "10.1.3.3"), (2, HopSource::Static));
        assert_eq!(hops(&table, "10.5.5.5"), (5, HopSource::Mpath));
        assert_eq!(hops(&table, "10.6.6.6"), (6, HopSource::Default));
        assert_eq!(hops(&table, "10.1.9.9"), (7, HopSource::Static));
        let host: IpAddr = "10.5.5.5".parse().unwrap();
        let way = table.way(host, Some(ReceivedTtl::on_arrival(63)));
        assert_eq!((way.hops, way.source), (2, HopSource::Ttl));
    }

    #[test]
    fn default_routes_of_other_gateways_say_nothing_of_hosts() {
        let mut known = knowledge("[hops]\nsources = [\"olsr\", \"ttl\"]\n");
        known.hear_hops(
            at(0),
            HopSource::Olsr,
            entries(&[("0.0.0.0/0", 5), ("2000::/3", 5), ("10.0.0.0/8", 2), ("fd00::/8", 3)]),
        );
        let table = known.table(at(1));
        assert_eq!(hops(&table, "10.1.2.3"), (2, HopSource::Olsr));
        assert_eq!(hops(&table, "fd00::3"), (3, HopSource::Olsr));
        assert_eq!(hops(&table, "192.168.1.2"), (4, HopSource::Default));
        assert_eq!(hops(&table, "2001:db8::1"), (4, HopSource::Default));
    }

    #[test]
    fn answers_age_out_and_failures_keep_the_last_one_until_then() {
        let mut known = knowledge("[hops]\nrefresh = \"10s\"\nexpiry = \"30s\"\n");
        known.hear_hops(at(0), HopSource::Babel, entries(&[("10.1.0.2/32", 2)]));
        known.hear_hops(at(10), HopSource::Babel, Err("refused".to_owned()));
        let table = known.table(at(29));
        assert_eq!(hops(&table, "10.1.0.2"), (2, HopSource::Babel));
        let report = table.reports().iter().find(|report| report.source == HopSource::Babel).unwrap();
        let problem = Some("refused".to_owned());
        assert_eq!(
            *report,
            SourceReport { source: HopSource::Babel, entries: 1, answered: Some(at(0)), problem }
        );
        let later = known.table(at(30));
        assert_eq!(hops(&later, "10.1.0.2"), (4, HopSource::Default));
        assert_ne!(later.generation(), table.generation());
        // A later answer replaces all of an earlier one.
        known.hear_hops(at(40), HopSource::Babel, entries(&[("10.1.0.3/32", 1)]));
        let last = known.table(at(41));
        assert_eq!((hops(&last, "10.1.0.3").0, hops(&last, "10.1.0.2").1), (1, HopSource::Default));
    }

    #[test]
    fn rates_are_the_drivers_then_the_files() {
        let mut known = knowledge(
            "[mesh]\nrate = \"nl80211\"\nfallback_rate = \"2Mbps\"\n[[subnet]]\nprefix = \"10.2.0.0/16\"\nrate = \"6Mbps\"\n",
        );
        let mbit = |n: u64| Rate::bits_per_sec(n * 1_000_000);
        known.hear_rates(
            at(0),
            Ok(vec![("10.1.0.2/32".parse().unwrap(), mbit(54)), ("10.2.0.2/32".parse().unwrap(), mbit(54))]),
        );
        let table = known.table(at(0));
        let rate = |host: &str| {
            let way = table.way(host.parse().unwrap(), None);
            (way.rate, way.rate_source)
        };
        assert_eq!(rate("10.1.0.2"), (mbit(54), RateSource::Nl80211));
        assert_eq!(rate("10.2.0.2"), (mbit(6), RateSource::Configured));
        assert_eq!(rate("10.1.0.3"), (mbit(2), RateSource::Configured));
        // The delivered rate is a lower bound, where the driver reports no rate.
        let mut delivered = Delivered::default();
        for host in ["10.1.0.2", "10.2.0.2", "10.1.0.3"] {
            delivered.hear(host.parse().unwrap(), mbit(20), 3);
        }
        known.hear_delivered(delivered);
        let table = known.table(at(0));
        let rate = |host: &str| table.way(host.parse().unwrap(), None).rate;
        assert_eq!([rate("10.1.0.2"), rate("10.2.0.2"), rate("10.1.0.3")], [mbit(54), mbit(6), mbit(60)]);
        let file = Knowledge::new(Arc::new(Config::parse("a.toml", b"[mesh]\nrate = \"2Mbps\"\n").unwrap()));
        let mut file = Knowledge { delivered: known.delivered, ..file };
        let way = file.table(at(0)).way("10.1.0.3".parse().unwrap(), None);
        assert_eq!(way.rate, mbit(2), "the file's word is kept to");
    }

    #[test]
    fn another_configuration_drops_the_sources_that_are_asked_no_more() {
        let mut known = knowledge("");
        known.hear_hops(at(0), HopSource::Olsr, entries(&[("10.1.0.2/32", 2)]));
        known.hear_hops(at(0), HopSource::Babel, entries(&[("10.1.0.2/32", 3)]));
        known.reconfigure(Arc::new(Config::parse("b.toml", b"[hops]\nsources = [\"babel\"]\n").unwrap()));
        assert_eq!(hops(&known.table(at(1)), "10.1.0.2"), (3, HopSource::Babel));
    }
}
