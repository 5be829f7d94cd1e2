//! Tahoe: every loss starts again from one segment.

use super::part::WindowPart;
use super::recovery::GoBack;
use super::{Congestion, Outstanding, Recovered, Rules, Window};
use alloc::boxed::Box;
use meshpace_keys::{Brings, Need};

pub(super) static PART: WindowPart = WindowPart::new(
    "tahoe",
    "Slow start from one segment after every loss.",
    "schemes.md 16",
    |_, surroundings| Tahoe::new(surroundings.rules).into(),
)
.brings(&[Brings { key: "recovery", word: Some("go-back") }])
// Fast recovery from a window of one segment would be neither.
.needs(&[Need { key: "recovery", words: &["go-back"] }]);

/// Tahoe's window: slow start from one segment after every loss (schemes.md 16).
#[derive(Clone, Debug)]
pub struct Tahoe {
    window: Window,
}

impl Tahoe {
    /// By these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { window: Window::new(rules) }
    }
}

impl Congestion for Tahoe {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Half the threshold, one segment (schemes.md 16, "Tahoe on 3 dups").
    fn on_loss(&mut self, _: f64, out: &Outstanding) -> f64 {
        self.window.cut_threshold(0.0, out);
        self.window.loss_window()
    }
}

/// Tahoe, which goes back to the first unacknowledged segment.
#[must_use]
pub fn tahoe(rules: Rules) -> Recovered {
    Recovered::new(Box::new(Tahoe::new(rules)), Box::new(GoBack::new(&rules)))
}
