//! Whether it helps others that somebody sends less.
//!
//! A host may want more for reasons of its own: a slow link behind it, one that loses. If others sent ever less to be as slow as that host, the air
//! would be unused. So each time that they send a third less, a part of that has to come to those who want more, or nobody is held back for a
//! while.

use meshpace_units::{Instant, Span};

/// That is looked at each time when what is held back has fallen to this part for so long: a sender whose timer has doubled takes seconds until it
/// sends again.
const FALLEN: (f64, Span) = (0.7, Span::from_secs(5));
/// Of what some send less this part comes to others at least. Over eight hops, of which three others are in the air, a byte takes as much of it as four
/// near the gateway, and more of them are lost.
const COMES: f64 = 0.1;
/// What was sent before is remembered for so long while nobody is held back: who wants more may have got all for a moment.
const REMEMBERED: Span = Span::from_secs(30);
/// Otherwise nobody is held back for so long, twice as long the next time, and no longer than this.
const PAUSE: (Span, Span) = (Span::from_secs(60), Span::from_secs(960));

/// See the module's description.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    /// What those who are held back sent, and what those who want more had, when it was looked at.
    mark: Option<(f64, f64)>,
    /// When somebody was held back last.
    held: Instant,
    /// Since when less is sent than then by so much.
    fallen: Option<Instant>,
    /// Until when nobody is held back.
    until: Instant,
    pause: Span,
}

impl Gain {
    pub const fn new() -> Self {
        Self { mark: None, held: Instant::ZERO, fallen: None, until: Instant::ZERO, pause: PAUSE.0 }
    }

    /// What those who are held back send, if any are, and what those who want more have. Whether somebody may be held back.
    pub fn helps(&mut self, now: Instant, sent: Option<f64>, had: f64) -> bool {
        if now.saturating_since(self.held) >= REMEMBERED {
            self.mark = None;
        }
        let Some(sent) = sent else {
            self.fallen = None;
            return now >= self.until;
        };
        self.held = now;
        let (before, had_before) = *self.mark.get_or_insert((sent, had));
        let (part, time) = FALLEN;
        if sent > part * before {
            self.fallen = None;
        } else if now.saturating_since(*self.fallen.get_or_insert(now)) >= time {
            (self.mark, self.fallen) = (Some((sent, had)), None);
            if had - had_before < COMES * (before - sent) {
                self.until = now + self.pause;
                self.pause = (self.pause * 2).min(PAUSE.1);
            } else {
                self.pause = PAUSE.0;
            }
        }
        now >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was held back falls to `sent` at `from`, in seconds, and others have `had` from then on: when nobody may be held back any longer, within
    /// ten seconds.
    fn lifted(
        gain: &mut Gain,
        from: u64,
        (before, sent): (f64, f64),
        (had_before, had): (f64, f64),
    ) -> Option<u64> {
        let at = |ms| Instant::ZERO + Span::from_secs(from) + Span::from_millis(ms);
        assert!(gain.helps(at(0), Some(before), had_before), "{from}");
        (0..100).map(|n| 100 * n).find(|ms| !gain.helps(at(*ms), Some(sent), had))
    }

    #[test]
    fn nobody_is_held_back_for_long_if_nobody_has_more_by_it() {
        let mut gain = Gain::new();
        assert_eq!(lifted(&mut gain, 0, (100.0, 80.0), (10.0, 10.0)), None, "a fifth less is not looked at");
        assert_eq!(
            lifted(&mut gain, 100, (100.0, 50.0), (10.0, 16.0)),
            None,
            "an eighth of it came to others"
        );
        assert_eq!(lifted(&mut gain, 200, (100.0, 50.0), (10.0, 12.0)), Some(5_000), "too little of it");
        let at = |s| Instant::ZERO + Span::from_secs(s);
        assert_eq!([264, 266].map(|s| gain.helps(at(s), None, 0.0)), [false, true]);
        assert_eq!(lifted(&mut gain, 300, (100.0, 50.0), (10.0, 12.0)), Some(5_000));
        assert_eq!([424, 426].map(|s| gain.helps(at(s), None, 0.0)), [false, true], "twice as long");
        assert_eq!(lifted(&mut gain, 500, (100.0, 50.0), (10.0, 30.0)), None);
        assert_eq!(lifted(&mut gain, 600, (100.0, 50.0), (10.0, 12.0)), Some(5_000));
        assert_eq!([664, 666].map(|s| gain.helps(at(s), None, 0.0)), [false, true], "it has helped since");
    }

    /// Who wants more has all for a moment, and is then held back to where it was: that is no new loss.
    #[test]
    fn a_pause_is_not_looked_at() {
        let mut gain = Gain::new();
        assert_eq!(lifted(&mut gain, 0, (100.0, 50.0), (10.0, 50.0)), None);
        let at = |s| Instant::ZERO + Span::from_secs(s);
        assert!(gain.helps(at(11), None, 50.0));
        assert_eq!(lifted(&mut gain, 12, (80.0, 50.0), (50.0, 50.0)), None);
    }
}
