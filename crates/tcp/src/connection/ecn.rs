//! Explicit congestion notification: agreeing on it, and what the receiving half does (RFC 3168, section 6.1).
//!
//! The sending half's part is in `sender/reductions.rs` and in the control. Of what the RFC leaves open: a SYN that is lost
//! is repeated without the request (section 6.1.1.1), a reset in answer to it is believed.

use crate::segment::Flags;
use meshpace_units::Ecn;

/// The agreement of the two ends, and the marks that are to be echoed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notification {
    /// SYNs ask for it.
    wanted: bool,
    /// A SYN or SYN-ACK without the request was sent after one with it: data may not be ECN-capable then, but the peer's
    /// marks must be echoed (section 6.1.1).
    declined: bool,
    /// Both sides have asked.
    agreed: bool,
    /// A mark arrived, and the peer has not said since that it reduced its window.
    echoing: bool,
}

impl Notification {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// ECE and CWR of a SYN, or of the SYN-ACK that answers one (section 6.1.1).
    pub(super) const fn syn_flags(&self, answer: bool) -> Flags {
        if answer {
            Flags { ece: self.agreed, ..Flags::NONE }
        } else {
            Flags { ece: self.wanted, cwr: self.wanted, ..Flags::NONE }
        }
    }

    /// The peer's SYN or SYN-ACK arrived. Both flags in a SYN-ACK are those of a host that only reflects them.
    pub(super) const fn on_peer_syn(&mut self, flags: Flags) {
        let asks = flags.ece && flags.cwr != flags.ack;
        self.agreed = (self.wanted || self.declined) && asks;
    }

    /// The peer repeated its SYN: without the request, it may not have seen our consent.
    pub(super) const fn on_repeated_syn(&mut self, flags: Flags) {
        self.agreed = self.agreed && flags.ece && flags.cwr;
    }

    /// No answer to a SYN came: some nodes on the way drop those that ask (section 6.1.1.1).
    pub(super) const fn on_syn_timeout(&mut self) {
        self.declined |= self.wanted;
        self.wanted = false;
    }

    /// The codepoint of a segment: only new data may be marked (sections 6.1.4 and 6.1.5).
    pub(super) const fn codepoint(&self, new_data: bool) -> Ecn {
        if self.is_used() && new_data { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// True if data leave ECN-capable.
    pub(super) const fn is_used(&self) -> bool {
        self.agreed && !self.declined
    }

    /// True if the flags of an acknowledgement echo a mark of ours.
    pub(super) const fn is_echo(&self, flags: Flags) -> bool {
        self.is_used() && flags.ece && !flags.syn
    }

    /// Data within the window arrived; true if they were marked. The echo goes on until the peer has reduced its window
    /// (section 6.1.3).
    pub(super) fn on_data(&mut self, flags: Flags, ecn: Ecn) -> bool {
        let marked = self.agreed && ecn == Ecn::Ce;
        self.echoing = marked || (self.echoing && !flags.cwr);
        marked
    }

    /// Whether acknowledgements echo a mark.
    pub(super) const fn echoing(&self) -> bool {
        self.echoing
    }
}
