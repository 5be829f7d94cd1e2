//! The data thread's heartbeat: while it gets on, it renews the lease by which packets come to it and tells the service manager.

use crate::lease::{Beacon, RENEWAL};
use crate::service_manager::ServiceManager;
use meshpace_units::{Instant, Span};

/// See the module's description. The thread beats it at the end of each turn of its loop, when everything that was due has been
/// done; nobody else does.
#[derive(Debug)]
pub struct Heartbeat {
    beacon: Option<Beacon>,
    manager: Option<ServiceManager>,
    /// Time between two beats; `None` if no service manager waits for any.
    every: Option<Span>,
    due: Instant,
    /// It was said that the lease cannot be renewed.
    complained: bool,
}

impl Heartbeat {
    /// `beacon` renews the lease, if there is one; `manager` is told if it watches.
    #[must_use]
    pub fn new(beacon: Option<Beacon>, manager: Option<ServiceManager>) -> Self {
        // Half of the watchdog's time, as sd_watchdog_enabled(3) recommends.
        let watchdog = manager.as_ref().and_then(ServiceManager::watchdog).map(|time| time / 2);
        let every = watchdog.into_iter().chain(beacon.is_some().then_some(RENEWAL)).min();
        Self { beacon, manager, every, due: Instant::ZERO, complained: false }
    }

    /// When the next beat is due; `None`: never.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.every.map(|_| self.due)
    }

    /// Beats if that is due.
    pub fn on_time(&mut self, now: Instant) {
        if self.due().is_some_and(|due| due <= now) {
            self.beat(now);
        }
    }

    /// Beats.
    pub fn beat(&mut self, now: Instant) {
        if let Some(every) = self.every {
            self.due = now + every;
        }
        let given = self.beacon.as_ref().map_or(Ok(()), Beacon::give);
        if let Err(why) = &given
            && !self.complained
        {
            eprintln!("meshpaced: the lease of the queue cannot be renewed, packets pass unqueued: {why}");
        }
        self.complained = given.is_err();
        if let Some(manager) = &self.manager
            && manager.watchdog().is_some()
        {
            // A manager that does not listen now will hear the next one.
            let _ = manager.alive();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_beats_as_often_as_the_lease_needs_and_not_without_anybody_who_waits() {
        let mut heartbeat = Heartbeat::new(Some(Beacon::open().unwrap()), None);
        let start = Instant::ZERO + Span::from_secs(1);
        assert!(heartbeat.due().is_some_and(|due| due <= start), "at once");
        heartbeat.on_time(start);
        assert_eq!(heartbeat.due(), Some(start + RENEWAL));
        heartbeat.on_time(start + RENEWAL / 2);
        assert_eq!(heartbeat.due(), Some(start + RENEWAL), "not before its time");
        assert_eq!(Heartbeat::new(None, None).due(), None);
    }
}
