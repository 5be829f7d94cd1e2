//! When the sender has reduced its window: what follows from it with explicit congestion notification (RFC 3168, section
//! 6.1.2).

/// The latest reduction, for whatever reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reductions {
    /// What had been sent then.
    latest: Option<u64>,
    /// The peer has not been told.
    untold: bool,
}

impl Reductions {
    /// True if an echo that comes with an acknowledgement of everything before `una` asks for a reduction: not twice in one
    /// window of data. The echo goes on until the peer has seen the answer, which is in the first data after the window.
    pub(crate) fn is_new(&self, una: u64) -> bool {
        self.latest.is_none_or(|latest| una > latest)
    }

    /// The window was reduced when everything before `max` had been sent.
    pub(crate) const fn on_reduction(&mut self, max: u64) {
        self.latest = Some(max);
        self.untold = true;
    }

    /// A loss was found when everything before `max` had been sent and `una` was missing. If that was sent before the latest
    /// reduction, it is not answered by another.
    pub(crate) fn on_loss(&mut self, una: u64, max: u64) {
        if self.latest.is_none_or(|latest| una >= latest) {
            self.on_reduction(max);
        }
    }

    /// The first new data leave: true if they are to tell the peer.
    pub(crate) const fn tell(&mut self) -> bool {
        core::mem::replace(&mut self.untold, false)
    }
}
