//! What `meshpaced edge --status` shows.

use crate::text::{count, time};
use serde::{Deserialize, Serialize};

/// Version of the answer; changes only when a key's meaning does.
pub const SCHEMA: u32 = 1;

/// What the edge counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets seen on their way into the mesh; by NFQUEUE only TCP packets of at most 120 bytes.
    pub packets: u64,
    /// Pure acknowledgements among these packets.
    pub acknowledgements: u64,
    /// Acknowledgements passed at once because they say something that the next one would not repeat (docs/edge.md);
    /// `null` by NFQUEUE.
    pub news: Option<u64>,
    /// Acknowledgements kept when they came.
    pub withheld: u64,
    /// Kept acknowledgements that were sent later: no newer one came before the deadline, or a packet passed that does
    /// not replace them.
    pub sent_later: u64,
    /// Kept acknowledgements that were sent at their deadline and dropped by the program, because a newer one had just
    /// passed.
    pub overtaken: u64,
    /// Acknowledgements that are kept now.
    pub waiting: u64,
    /// Acknowledgements passed because there was no room to keep them.
    pub no_place: u64,
    /// Acknowledgements that passed because their report could not reach the daemon.
    pub lost_events: u64,
    /// Kept acknowledgements that could not be sent: the interface was down, or its queue full.
    pub failed: u64,
    /// How often the program in the kernel found a kept acknowledgement a second overdue, and let everything pass.
    pub late: u64,
    /// Packets not read: fragments.
    pub fragments: u64,
    /// Packets not read: protocols other than TCP, tunnels and QUIC among them.
    pub other_protocol: u64,
    /// Packets not read: the packet ends before its headers do.
    pub truncated: u64,
    /// Packets not read: the headers contradict themselves.
    pub malformed: u64,
}

impl Counters {
    /// Acknowledgements that did not go into the mesh, as newer ones did in their place.
    #[must_use]
    pub const fn thinned(&self) -> u64 {
        self.withheld.saturating_sub(self.sent_later).saturating_sub(self.waiting)
    }

    /// Their share of all; `None` before the first.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.acknowledgements > 0).then(|| self.thinned() as f64 / self.acknowledgements as f64)
    }
}

/// The answer of `meshpaced edge --status --json`. Quantities carry their unit in the key: `_s` seconds, `_bytes` bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of this layout.
    pub schema: u32,
    /// The daemon's version.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// Seconds since the edge began.
    pub uptime_s: f64,
    /// How packets are seen: `ebpf` or `nfqueue`.
    pub datapath: String,
    /// Why this data path was chosen.
    pub reason: String,
    /// The interfaces into the mesh.
    pub interfaces: Vec<String>,
    /// An acknowledgement passes at once if it acknowledges this many bytes more than the last one that passed
    /// (`edge.bytes`).
    pub pass_bytes: u64,
    /// An acknowledgement passes at once if it brings this part, one in so many, of what was acknowledged since the
    /// sender began (`edge.share`).
    pub share: u32,
    /// An acknowledgement passes at once if it comes so many seconds after the last one that passed (`edge.wait`).
    pub wait_s: f64,
    /// All other acknowledgements wait for a newer one, so many seconds at the most (`edge.tail`).
    pub tail_s: f64,
    /// Acknowledgements that did not go into the mesh.
    pub thinned: u64,
    /// The share of all acknowledgements that did not go into the mesh; `null` before the first acknowledgement.
    pub thinned_share: Option<f64>,
    /// What was counted since the edge began.
    pub counters: Counters,
}

impl Status {
    /// In words.
    #[must_use]
    pub fn for_people(&self) -> String {
        let Counters { acknowledgements, news, sent_later, waiting, overtaken, .. } = self.counters;
        let Counters { no_place, lost_events, failed, late, .. } = self.counters;
        let Counters { packets, other_protocol, fragments, truncated, malformed, .. } = self.counters;
        let way = if self.datapath == "ebpf" { "eBPF" } else { "NFQUEUE" };
        let mut out = format!(
            "meshpaced edge {}, up {}, by {way} on {} ({})\n",
            self.version,
            time(self.uptime_s),
            self.interfaces.join(", "),
            self.reason
        );
        let share = self.thinned_share.map_or_else(String::new, |share| format!(" ({:.1} %)", share * 100.0));
        out += &format!(
            "{} acknowledgements, {} thinned{share}; {} sent later, {} waiting\n",
            count(acknowledgements),
            count(self.thinned),
            count(sent_later),
            count(waiting)
        );
        if let Some(news) = news {
            out += &format!(
                "{} passed because no later one repeats what they say, {} were overtaken\n",
                count(news),
                count(overtaken)
            );
        }
        out += &format!(
            "{} packets; not read: {} of other protocols, {} fragments, {} truncated, {} malformed\n",
            count(packets),
            count(other_protocol),
            count(fragments),
            count(truncated),
            count(malformed)
        );
        out += &format!(
            "passed because there was no room: {}, because the daemon could not be told: {}; not sent: {}; late: {}\n",
            count(no_place),
            count(lost_events),
            count(failed),
            count(late)
        );
        out
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A status in which every number is another.
    pub fn example() -> Status {
        let counters = Counters {
            packets: 20_000,
            acknowledgements: 10_000,
            news: Some(31),
            withheld: 9_000,
            sent_later: 40,
            overtaken: 2,
            waiting: 3,
            no_place: 4,
            lost_events: 5,
            failed: 6,
            late: 7,
            fragments: 8,
            other_protocol: 900,
            truncated: 10,
            malformed: 11,
        };
        Status {
            schema: SCHEMA,
            version: "0.1.0".to_owned(),
            pid: 7,
            uptime_s: 75.0,
            datapath: "ebpf".to_owned(),
            reason: "as configured".to_owned(),
            interfaces: vec!["mesh0".to_owned(), "mesh1".to_owned()],
            pass_bytes: 23_360,
            share: 8,
            wait_s: 0.2,
            tail_s: 0.1,
            thinned: counters.thinned(),
            thinned_share: counters.share(),
            counters,
        }
    }

    #[test]
    fn what_waits_or_was_sent_is_not_thinned() {
        let status = example();
        assert_eq!((status.thinned, status.thinned_share), (8_957, Some(0.8957)));
        assert_eq!((Counters::default().thinned(), Counters::default().share()), (0, None));
        let sent_before = Counters { withheld: 1, sent_later: 1, waiting: 1, ..Counters::default() };
        assert_eq!(sent_before.thinned(), 0);
    }

    #[test]
    fn people_read_all_of_it() {
        let text = example().for_people();
        let expected = "meshpaced edge 0.1.0, up 1 min 15 s, by eBPF on mesh0, mesh1 (as configured)\n\
             10,000 acknowledgements, 8,957 thinned (89.6 %); 40 sent later, 3 waiting\n\
             31 passed because no later one repeats what they say, 2 were overtaken\n\
             20,000 packets; not read: 900 of other protocols, 8 fragments, 10 truncated, 11 malformed\n\
             passed because there was no room: 4, because the daemon could not be told: 5; not sent: 6; late: 7\n";
        assert_eq!(text, expected);
        let mut queue = example();
        queue.datapath = "nfqueue".to_owned();
        queue.counters.news = None;
        assert!(queue.for_people().contains("by NFQUEUE") && !queue.for_people().contains("overtaken"));
    }
}
