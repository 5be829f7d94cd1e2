//! Nodes move, links fade, nodes are switched off and on: links change.

use super::Network;
use crate::air::{Air, Movement};
use crate::event::Event;
use meshpace_radio::Position;
use meshpace_units::{NodeId, Span};
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Where the nodes are, looked at every 100 ms; `None`: where they were at the beginning.
    #[must_use]
    pub fn places(&self) -> Option<&[Position]> {
        self.movement.as_ref().map(Movement::positions)
    }

    /// Schedules the next look at the links, if they change.
    pub(super) fn schedule_movement(&mut self) {
        let fading = self.airs.iter().filter_map(Air::fading_step).min();
        if let Some(step) = fading.or(self.movement.is_some().then_some(Movement::STEP)) {
            self.queue.schedule(self.now() + step, Event::Movement);
        }
    }

    /// True if links change.
    pub(super) fn links_change(&self) -> bool {
        self.movement.is_some() || self.airs.iter().any(|air| air.fading_step().is_some())
    }

    /// A node's radios are on from now on, or off: then they hear no station, and no station hears them, but for frames that are on the air
    /// now. Its queues and its routing are as they were, and find out.
    pub fn switch(&mut self, node: NodeId, on: bool) {
        self.airs.iter_mut().for_each(|air| air.switch(node, on));
    }

    /// A node sets out for another place, straight and as fast as `takes` has it.
    ///
    /// # Panics
    /// If no node of the scenario moves.
    pub fn go(&mut self, node: NodeId, to: (f64, f64), takes: Span) {
        let now = self.now();
        let movement = self.movement.as_mut();
        movement.unwrap_or_else(|| panic!("{node:?} goes where nobody does")).send(now, node, to, takes);
        self.place();
        self.reassign_gateways();
    }

    pub(super) fn nodes_move(&mut self) {
        self.place();
        self.airs.iter_mut().for_each(Air::fade_on);
        self.reassign_gateways();
        self.schedule_movement();
    }

    /// The links from where every node is now.
    fn place(&mut self) {
        let now = self.now();
        if let Some(movement) = &mut self.movement {
            movement.advance(now);
            self.airs.iter_mut().for_each(|air| air.place(movement.positions()));
        }
    }
}
