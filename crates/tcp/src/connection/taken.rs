//! What stands in a configuration whose control has gone.

use crate::control::{Ack, Control, Reaction};

/// In place of the control that the sender took: a copy beside it would be half a kilobyte that nobody reads. Boxed, it takes
/// no memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken;

impl Control for Taken {
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        unreachable!("the sender's control is asked, not that of the configuration: {ack:?}")
    }
}
