//! Frames on their way to receivers farther off than 802.11's timeouts reckon with.

use meshpace_packet::Packets;
use meshpace_radio::{Frame, MacPacket};
use std::collections::BTreeMap;

/// Copies of frames that outlive what their transmitter knows of them, by number.
#[derive(Default)]
pub struct FarFrames {
    on_the_way: BTreeMap<u32, Frame>,
    next: u32,
}

impl FarFrames {
    /// Copies a frame and the packet in it; returns the copy's number.
    pub fn add(&mut self, mut frame: Frame, packets: &mut Packets) -> u32 {
        frame.packet = frame.packet.map(|packet| MacPacket { handle: packets.copy(packet.handle), ..packet });
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.on_the_way.insert(number, frame);
        number
    }

    /// How many copies are on their way.
    pub fn count(&self) -> usize {
        self.on_the_way.len()
    }

    /// Takes a copy out; its packet is the caller's to free.
    pub fn take(&mut self, number: u32) -> Frame {
        self.on_the_way.remove(&number).unwrap_or_else(|| panic!("no frame {number} is on its way"))
    }
}
