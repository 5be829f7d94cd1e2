//! Changing a packet on its way: options, the window, and the mark of congestion.
//!
//! All changes of options are one: a new string of options in place of the old. The checksums are updated by the difference, which
//! keeps the error of a packet that came damaged.

use crate::checksum::{Sum, update};
use crate::ip::{Ip, array};
use crate::options::{NOP, RTT_OPTION_LENGTH, Stop, Walk, rtt_option};
use crate::packet::Layout;
use crate::tcp::{CHECKSUM, HEADER, OFFSET_AND_FLAGS, OPTIONS_MAX, WINDOW, is_syn};
use alloc::vec::Vec;
use core::fmt;
use meshpace_units::{Ecn, Span};

/// The RTT option cannot be written where a reader would find it: the options have no room for 8 bytes more, the IP
/// length has none, an option of impossible length comes first, or this is no whole TCP packet. The packet is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room for the RTT option")
    }
}

impl core::error::Error for NoRoom {}

/// A header's options, to be changed.
struct Edit {
    layout: Layout,
    bytes: [u8; OPTIONS_MAX],
    length: usize,
}

impl Edit {
    fn of(layout: Layout, options: &[u8]) -> Self {
        let mut bytes = [0; OPTIONS_MAX];
        bytes[..options.len()].copy_from_slice(options);
        Self { layout, bytes, length: options.len() }
    }

    fn blank(&mut self, from: usize, length: usize) {
        self.bytes[from..from + length].fill(NOP);
    }

    /// Writes options of the same length over the old.
    fn overwrite(&self, packet: &mut [u8]) {
        let tcp = self.layout.ip.transport;
        let options = &mut packet[tcp + HEADER..tcp + self.layout.header];
        let new = &self.bytes[..self.length];
        let (old_sum, new_sum) = (Sum::default().bytes(options), Sum::default().bytes(new));
        options.copy_from_slice(new);
        patch_checksum(packet, tcp + CHECKSUM, old_sum, new_sum);
    }

    /// Puts `more` bytes, a multiple of four that the lengths have room for, behind the old options, and writes them.
    fn grow(&mut self, packet: &mut Vec<u8>, more: [u8; RTT_OPTION_LENGTH]) {
        let Layout { ip, header } = self.layout;
        self.overwrite(packet);
        packet.splice(ip.transport + header..ip.transport + header, more);

        // The TCP checksum covers its own header and, in the pseudo-header, the length.
        let offset = ip.transport + OFFSET_AND_FLAGS;
        let old = u16::from_be_bytes(array(packet, offset));
        let new = old + ((more.len() as u16 / 4) << 12);
        packet[offset..offset + 2].copy_from_slice(&new.to_be_bytes());
        let tcp_length = (ip.length - ip.transport) as u16;
        let (old, new) = (
            Sum::default().word(old).word(tcp_length),
            Sum::default().word(new).word(tcp_length + more.len() as u16).bytes(&more),
        );
        patch_checksum(packet, ip.transport + CHECKSUM, old, new);

        let at = if ip.v6 { 4 } else { 2 };
        let old = u16::from_be_bytes(array(packet, at));
        let new = old + more.len() as u16;
        packet[at..at + 2].copy_from_slice(&new.to_be_bytes());
        if !ip.v6 {
            patch_checksum(packet, 10, Sum::default().word(old), Sum::default().word(new));
        }
    }
}

fn patch_checksum(packet: &mut [u8], at: usize, old: Sum, new: Sum) {
    let checksum = update(u16::from_be_bytes(array(packet, at)), old, new);
    packet[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Makes `rtt` (whole milliseconds, rounded to the nearest, at most 65,535) the value of the packet's only RTT option: in
/// place of one that it carries, else in 8 bytes more. Padding behind the last option becomes NOPs then.
///
/// # Errors
/// [`NoRoom`].
///
/// Source: schemes.md 3.2.
pub fn set_rtt(packet: &mut Vec<u8>, rtt: Span) -> Result<(), NoRoom> {
    let (layout, _, options) = Layout::of(packet).map_err(|_| NoRoom)?;
    let ip = layout.ip;
    if packet.len() < ip.length {
        return Err(NoRoom);
    }
    let mut edit = Edit::of(layout, options);
    let mut written = false;
    let mut walk = Walk::new(options);
    for found in walk.by_ref().filter(|found| found.has_rtt_exid()) {
        let length = found.bytes.len();
        if found.is_rtt() && !written {
            edit.bytes[found.at..found.at + length].copy_from_slice(&rtt_option(rtt)[..length]);
            written = true;
        } else {
            edit.blank(found.at, length);
        }
    }
    if written {
        edit.overwrite(packet);
        return Ok(());
    }
    // IPv6's length does not count the fixed header.
    let counted = if ip.v6 { ip.length - crate::ip::IPV6_HEADER } else { ip.length };
    if options.len() + RTT_OPTION_LENGTH > OPTIONS_MAX || counted + RTT_OPTION_LENGTH > u16::MAX.into() {
        return Err(NoRoom);
    }
    match walk.stop() {
        Stop::Behind => {}
        Stop::End(at) => edit.blank(at, options.len() - at),
        Stop::Malformed => return Err(NoRoom),
    }
    edit.grow(packet, rtt_option(rtt));
    Ok(())
}

/// Overwrites every RTT option with NOPs, those of a wrong length too. Returns whether there was one.
pub fn strip_rtt(packet: &mut [u8]) -> bool {
    let Ok((layout, _, options)) = Layout::of(packet) else { return false };
    let mut edit = None;
    for found in Walk::new(options).filter(|found| found.has_rtt_exid()) {
        edit.get_or_insert_with(|| Edit::of(layout, options)).blank(found.at, found.bytes.len());
    }
    if let Some(edit) = &edit {
        edit.overwrite(packet);
    }
    edit.is_some()
}

/// Lowers the maximum segment size that a SYN announces to `max`, so that options can be added to full segments. Returns
/// whether it was larger. A SYN without the option means 536 or 1,220 bytes (RFC 9293, section 3.7.1) and is left.
pub fn clamp_mss(packet: &mut [u8], max: u16) -> bool {
    let Ok((layout, fixed, options)) = Layout::of(packet) else { return false };
    if !is_syn(fixed) {
        return false;
    }
    let mut edit = None;
    for found in Walk::new(options).filter(|found| found.mss().is_some_and(|mss| mss > max)) {
        let edit = edit.get_or_insert_with(|| Edit::of(layout, options));
        edit.bytes[found.at + 2..found.at + 4].copy_from_slice(&max.to_be_bytes());
    }
    if let Some(edit) = &edit {
        edit.overwrite(packet);
    }
    edit.is_some()
}

/// Writes the window field. Returns whether it was another; where this is no TCP packet, nothing is written.
pub fn set_window(packet: &mut [u8], window: u16) -> bool {
    let Ok((layout, ..)) = Layout::of(packet) else { return false };
    let tcp = layout.ip.transport;
    let old = u16::from_be_bytes(array(packet, tcp + WINDOW));
    if old == window {
        return false;
    }
    packet[tcp + WINDOW..tcp + WINDOW + 2].copy_from_slice(&window.to_be_bytes());
    patch_checksum(packet, tcp + CHECKSUM, Sum::default().word(old), Sum::default().word(window));
    true
}

/// Marks an IP packet as having met congestion, if its transport reacts to that (RFC 3168, section 5). Returns whether it
/// is marked now; if not, the signal is to drop it. The transport's checksum does not cover the mark.
pub fn mark(packet: &mut [u8]) -> bool {
    let Ok(ip) = Ip::walk(packet) else { return false };
    let Some(ecn) = Ecn::from_bits(ip.traffic_class(packet)).marked() else { return false };
    let old = u16::from_be_bytes(array(packet, 0));
    let new = old | u16::from(ecn.bits()) << if ip.v6 { 4 } else { 0 };
    packet[..2].copy_from_slice(&new.to_be_bytes());
    if !ip.v6 {
        patch_checksum(packet, 10, Sum::default().word(old), Sum::default().word(new));
    }
    true
}
