//! What there is to count on a connection.

/// Counters of one endpoint since it was opened. The SYN and the FIN without data are in none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters {
    /// Segments with payload sent, retransmissions included.
    pub data_segments: u64,
    /// Segments with payload that carried anything for the first time.
    pub distinct_segments: u64,
    /// Segments with payload that carried nothing new.
    pub retransmits: u64,
    /// Expiries of the retransmission timer, the SYN's included.
    pub timeouts: u64,
    /// Losses found by three duplicate acknowledgements.
    pub fast_retransmits: u64,
    /// Acknowledgements without payload sent.
    pub pure_acks: u64,
    /// Acknowledgements that came due because their wait was over.
    pub timer_acks: u64,
    /// Duplicate acknowledgements received and counted by congestion control.
    pub duplicate_acks: u64,
    /// Reductions of the window because of a mark (RFC 3168, section 6.1.2).
    pub ecn_reductions: u64,
    /// Segments with payload that arrived with the mark of congestion, on connections that have agreed on ECN.
    pub marks: u64,
    /// Segments discarded as unacceptable: outside the window, or an old duplicate by its timestamp.
    pub discarded: u64,
}
