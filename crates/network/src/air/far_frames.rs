//! Frames on their way to receivers.

use meshpace_radio::{Bitmap, Frame};
use meshpace_relay::packet::Packets;
use std::collections::BTreeMap;

/// A frame on its way, and those of its MPDUs that its receiver's link loses.
#[derive(Clone)]
pub struct OnAir {
    /// The frame.
    pub frame: Frame,
    /// By their place in it; `None`: none of them.
    pub erased: Option<Box<Bitmap>>,
}

/// Copies of frames that outlive what their transmitter knows of them, by number: on their way to receivers farther off than
/// 802.11's timeouts reckon with.
#[derive(Default)]
pub struct FarFrames {
    on_the_way: BTreeMap<u32, OnAir>,
    next: u32,
}

impl FarFrames {
    /// Copies a frame and the packets in it; returns the copy's number.
    pub fn add(&mut self, sent: &OnAir, packets: &mut Packets) -> u32 {
        let mut copy = sent.clone();
        copy.frame.rename(|handle| packets.copy(handle));
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.on_the_way.insert(number, copy);
        number
    }

    /// How many copies are on their way.
    pub fn count(&self) -> usize {
        self.on_the_way.len()
    }

    /// Takes a copy out; its packets are the caller's to free.
    pub fn take(&mut self, number: u32) -> OnAir {
        self.on_the_way.remove(&number).unwrap_or_else(|| panic!("no frame {number} is on its way"))
    }
}
