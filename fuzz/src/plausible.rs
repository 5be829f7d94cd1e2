//! The eBPF programs' rules of plausible segments (`bpf/include/plausible.h`), compiled for this machine.

use meshpace_gateway::{Judgement, Side};
use meshpace_tcp::Segment;
use std::ffi::c_int;

/// `struct windows`; its size is asserted in `bpf/include/gateway.h`.
#[repr(C)]
#[derive(Default)]
pub struct Windows([u32; 16]);

unsafe extern "C" {
    fn meshpace_plausible_pass(
        windows: *mut Windows,
        wireless: c_int,
        seq: u32,
        ack: u32,
        payload: u32,
        window: u16,
        flags: u8,
        offers: u8,
        scale: u8,
    ) -> c_int;
}

impl Windows {
    /// Judges a segment and, if it is plausible, learns from it. What begins anew begins with nothing known.
    pub fn pass(&mut self, side: Side, segment: &Segment) -> Judgement {
        let flags = segment.flags;
        // RFC 9293, section 3.1.
        let bits = [(flags.fin, 1), (flags.syn, 2), (flags.rst, 4), (flags.ack, 16)];
        let bits: u8 = bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum();
        let offered = segment.options.window_scale;
        // SAFETY: the struct is as large and as aligned as C's, and is borrowed for the call.
        let judgement = unsafe {
            meshpace_plausible_pass(
                self,
                c_int::from(side == Side::Wireless),
                segment.seq.0,
                segment.ack.0,
                segment.payload,
                segment.window,
                bits,
                u8::from(offered.is_some()),
                offered.unwrap_or(0),
            )
        };
        match judgement {
            0 => Judgement::Plausible,
            1 => Judgement::Implausible,
            2 => Judgement::Anew,
            other => panic!("judgement {other}"),
        }
    }
}
