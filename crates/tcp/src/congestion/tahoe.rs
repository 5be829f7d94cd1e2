//! Tahoe: every loss starts again from one segment.

use super::{Outstanding, Reaction, window::Window};

/// The third duplicate: half the threshold, one segment, go back to the first unacknowledged one (schemes.md 16,
/// "Tahoe on 3 dups").
pub(super) fn on_loss(window: &mut Window, out: &Outstanding) -> Reaction {
    window.cut_threshold(0.0, out);
    window.set(1.0);
    Reaction::GoBack
}
