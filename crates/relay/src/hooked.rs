//! A hook before drop-tail: what it lets pass joins the queue.

use crate::packet::{Body, Class, Handle, Packet, Packets};
use crate::{DropTail, Here, QueueConfig, Relay};
use meshpace_hook::{Direction, Hooked, Leaving, Met, PacketHook, Passing, Rewrite};
use meshpace_units::Instant;

/// The relay of a hook.
#[must_use]
pub fn hooked(hook: Box<dyn PacketHook>, queue: &QueueConfig) -> Box<dyn Relay> {
    Box::new(HookedQueue { hook: Hooked::new(hook, queue.limit), queue: DropTail::new(queue) })
}

/// A packet that the hook holds has no place in the queue yet: it joins the queue, or finds it full, when it
/// goes on.
#[derive(Debug)]
struct HookedQueue {
    hook: Hooked<Handle>,
    queue: DropTail,
}

impl HookedQueue {
    /// Packets that leave the hook join the queue, or are dropped.
    fn drain(&mut self, here: &mut Here<'_>) {
        while let Some(leaving) = self.hook.poll() {
            match leaving {
                Leaving::Passes(packet, changes) => {
                    rewrite(here.packets, packet, changes);
                    self.queue.enqueue(here, packet);
                }
                Leaving::Dropped(packet) => here.drop(packet),
            }
        }
    }
}

impl Relay for HookedQueue {
    /// Routing's packets and probes belong to the mesh itself: they pass.
    fn enqueue(&mut self, here: &mut Here<'_>, handle: Handle) {
        let packet = here.packets.get(handle);
        if matches!(packet.class, Class::Control | Class::Arp) {
            return self.queue.enqueue(here, handle);
        }
        let segment = match &packet.body {
            Body::Tcp(segment) => Some(segment),
            _ => None,
        };
        let passing = Passing {
            source: packet.source,
            destination: packet.destination,
            segment,
            says_more: false,
            length: packet.size,
        };
        let met = self.hook.handle(here.now, Direction::Along, &passing, handle);
        self.drain(here);
        match met {
            Met::Passes(handle, changes) => {
                rewrite(here.packets, handle, changes);
                self.queue.enqueue(here, handle);
            }
            Met::Held => {}
            Met::Dropped(handle) => here.drop(handle),
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.queue.dequeue(here)
    }

    fn head(&self, here: &Here<'_>) -> Option<Handle> {
        self.queue.head(here)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
        let packets = &*here.packets;
        self.hook.purge(|&held| wanted(packets.get(held)));
        self.drain(here);
    }

    fn len(&self) -> usize {
        self.queue.len() + self.hook.len()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.hook.poll_timeout()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        self.hook.handle_timeout(here.now);
        self.drain(here);
    }
}

fn rewrite(packets: &mut Packets, handle: Handle, changes: Rewrite) {
    if changes == Rewrite::default() {
        return;
    }
    let packet = packets.get_mut(handle);
    if let (Body::Tcp(segment), Some(window)) = (&mut packet.body, changes.window) {
        segment.window = window;
    }
    if changes.mark {
        packet.ecn = packet.ecn.marked().unwrap_or(packet.ecn);
    }
}
