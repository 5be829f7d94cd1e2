//! Recoveries that were not needed: how they show (RFC 3708, RFC 3522, RFC 5682).

use core::ops::Range;
use meshpace_units::{Instant, Span};

/// The latest recovery, and what was sent again in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// What was unacknowledged first when it began; `None`: there was none, or it is decided.
    since: Option<u64>,
    /// When something was first sent again, since nothing sent again was on its way.
    first: Option<Instant>,
    /// Segments sent again.
    resent: u32,
    /// Of these, segments that arrived twice.
    twice: u32,
}

impl Undo {
    /// A recovery begins with everything before `una` acknowledged, and with `resent` segments on their way that were sent again
    /// before; `head`: the first of all was ever. What these make the peer say is of no original, and it may report them twice
    /// (Linux's tcp_any_retrans_done, tcp_retrans_stamp_cleanup and tcp_init_undo, of 6.12).
    pub(super) fn begin(&mut self, una: u64, resent: u32, head: bool) {
        let first = self.first.filter(|_| resent > 0 || head);
        *self = Self { since: Some(una), first, resent, twice: 0 };
    }

    /// It is decided.
    pub(super) fn end(&mut self) {
        *self = Self { first: self.first, ..Self::default() };
    }

    /// A segment leaves again.
    pub(super) fn on_resent(&mut self, now: Instant) {
        self.first.get_or_insert(now);
        if self.since.is_some() {
            self.resent += 1;
        }
    }

    /// The peer reports that it got `range` twice (RFC 2883). True if that makes everything that was sent again needless: each
    /// original arrived (RFC 3708, section 2; Linux's `tcp_try_undo_dsack`).
    pub(super) fn on_duplicate(&mut self, range: &Range<u64>) -> bool {
        if self.since.is_some_and(|since| range.start >= since) {
            self.twice += 1;
        }
        self.since.is_some() && self.resent > 0 && self.twice >= self.resent
    }

    /// Something new is acknowledged, with the echo of a departure `echoed` ago, whole milliseconds. True if that was before
    /// anything was sent again, so that it is the original that arrived (RFC 3522, section 3, the Eifel detection). Less than
    /// two milliseconds are no evidence: the clock counts whole ones.
    pub(super) fn is_of_an_original(&self, now: Instant, echoed: Option<Span>) -> bool {
        let clock = |at: Instant| at.as_nanos() / 1_000_000;
        let first = self.first.filter(|_| self.since.is_some());
        let evidence = echoed.filter(|echoed| *echoed >= Span::from_millis(2)).zip(first);
        evidence.is_some_and(|(echoed, first)| {
            clock(now).saturating_sub(echoed.as_nanos() / 1_000_000) < clock(first)
        })
    }
}

/// F-RTO, the variant with selective acknowledgements (RFC 5682, section 3.1): after a timeout the first acknowledgement lets
/// new data out, and the one after it shows whether what had been outstanding arrived without being sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Forward {
    /// Nothing is to be found out.
    #[default]
    Off,
    /// Step 1: the first segment is sent again.
    Resent,
    /// Step 2b: new data leave.
    NewData,
}

/// What F-RTO makes of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It is not decided.
    Open,
    /// The timeout was needed, or this is not known: recovery goes on.
    Needed,
    /// What had been outstanding arrives (step 3b).
    Spurious,
}

impl Forward {
    /// An acknowledgement of everything before `una` where `point` had been sent at the timeout; `news`: it acknowledges
    /// something; `original`: it shows that something outstanding then has arrived which was not sent again; `beyond`: it reports
    /// something that was not outstanding then.
    pub(super) fn on_ack(
        &mut self,
        una: u64,
        point: u64,
        news: bool,
        original: bool,
        beyond: bool,
    ) -> Finding {
        match *self {
            Self::Off => return Finding::Needed,
            Self::Resent if !news && !beyond => return Finding::Open, // duplicates of before the timeout
            Self::Resent if news && una < point => {
                *self = Self::NewData;
                return Finding::Open;
            }
            Self::NewData if original => {
                *self = Self::Off;
                return Finding::Spurious;
            }
            Self::Resent | Self::NewData => {}
        }
        *self = Self::Off;
        Finding::Needed
    }

    /// While it waits for the answer to new data, nothing else is sent again.
    pub(super) fn holds_back(self) -> bool {
        self == Self::NewData
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn an_echo_from_before_the_retransmission_is_of_the_original() {
        let mut undo = Undo::default();
        undo.begin(1, 0, false);
        assert!(!undo.is_of_an_original(ms(300), Some(Span::from_millis(299))), "nothing was sent again");
        undo.on_resent(ms(250));
        assert!(undo.is_of_an_original(ms(300), Some(Span::from_millis(51))));
        assert!(!undo.is_of_an_original(ms(300), Some(Span::from_millis(50))), "the retransmission itself");
        assert!(!undo.is_of_an_original(ms(251), Some(Span::from_millis(1))), "within the clock's tick");
        assert!(!undo.is_of_an_original(ms(300), None));
    }

    #[test]
    fn every_retransmission_must_have_been_needless() {
        let mut undo = Undo::default();
        assert!(!undo.on_duplicate(&(1..11)), "there was no recovery");
        undo.begin(101, 0, false);
        (0..2).for_each(|n| undo.on_resent(ms(n)));
        assert!(!undo.on_duplicate(&(1..11)), "of before");
        assert!(!undo.on_duplicate(&(101..111)));
        assert!(undo.on_duplicate(&(111..121)));
    }

    #[test]
    fn a_retransmission_of_the_recovery_before_is_no_original() {
        // Sent again at 250 ms, in a recovery that ends before it arrives; the next one sends something again at 350 ms.
        let mut undo = Undo::default();
        undo.begin(1, 0, false);
        undo.on_resent(ms(250));
        undo.begin(101, 1, true);
        undo.on_resent(ms(350));
        assert!(!undo.is_of_an_original(ms(400), Some(Span::from_millis(150))), "of 250 ms");
        assert!(undo.is_of_an_original(ms(400), Some(Span::from_millis(151))), "of before");
        assert!(!undo.on_duplicate(&(101..111)), "the earlier one may be the other");
        assert!(undo.on_duplicate(&(111..121)));
        // Nothing is on its way when the next begins.
        undo.begin(201, 0, false);
        undo.on_resent(ms(500));
        assert!(undo.is_of_an_original(ms(550), Some(Span::from_millis(51))));
        // The segment that was sent again is lost, too, and is the first of all.
        undo.begin(301, 0, true);
        undo.on_resent(ms(600));
        assert!(!undo.is_of_an_original(ms(650), Some(Span::from_millis(51))), "it may have been late only");
    }

    #[test]
    fn f_rto_by_its_steps() {
        let after = |acks: &[(u64, bool, bool, bool)]| {
            let mut forward = Forward::Resent;
            acks.iter()
                .map(|&(una, news, original, beyond)| forward.on_ack(una, 100, news, original, beyond))
                .last()
        };
        assert_eq!(after(&[(10, true, true, false)]), Some(Finding::Open), "step 2b");
        assert_eq!(
            after(&[(10, true, true, false), (20, true, true, false)]),
            Some(Finding::Spurious),
            "step 3b"
        );
        assert_eq!(
            after(&[(10, true, true, false), (10, false, false, true)]),
            Some(Finding::Needed),
            "step 3a"
        );
        assert_eq!(
            after(&[(0, false, false, false), (10, true, true, false), (10, false, true, false)]),
            Some(Finding::Spurious)
        );
        assert_eq!(
            after(&[(100, true, true, false)]),
            Some(Finding::Needed),
            "step 2a: all at once tells nothing"
        );
    }
}
