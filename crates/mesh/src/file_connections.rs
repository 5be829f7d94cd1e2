//! Web-like flows that open a new connection for every file (`connection_per_file`).
//!
//! The sender closes a connection behind its file, the receiver follows, and the next file, which comes after its pause,
//! opens the next connection from another port: handshake, slow start and all. A file that is due while the connection
//! before it still closes waits for that.

use crate::flow::{RunningFlow, Transport};
use crate::measure::Baseline;
use crate::simulation::Simulation;
use meshpace_scenario::App;
use meshpace_tcp::State;

impl Simulation<'_> {
    /// True if a flow opens a connection for each file.
    pub(crate) fn opens_per_file(&self, flow: u32) -> bool {
        matches!(self.flows[flow as usize].spec.app, App::Http { connection_per_file: true, .. })
    }

    /// Goes on with closing after something happened to one of the ends, and with the file that waits for it.
    #[inline(always)]
    pub(crate) fn after_file(&mut self, flow: u32) {
        if self.opens_per_file(flow) {
            self.goes_on_closing(flow);
        }
    }

    #[inline(never)]
    fn goes_on_closing(&mut self, flow: u32) {
        let RunningFlow { transport: Transport::Tcp(tcp), application, .. } = &mut self.flows[flow as usize]
        else {
            unreachable!("flow {flow} has files and no connection")
        };
        let waits = application.waits_for_close;
        if tcp.receiver.state() == State::CloseWait {
            tcp.receiver.close();
            self.pump(flow, false);
        }
        if waits && self.is_closed(flow) {
            self.flows[flow as usize].application.waits_for_close = false;
            self.application(flow);
        }
    }

    /// A file is due. True if it may be written: there is an open connection for it.
    pub(crate) fn connection_for_file(&mut self, flow: u32) -> bool {
        if self.flows[flow as usize].application.written == 0 {
            return true; // the first
        }
        if !self.is_closed(flow) {
            self.flows[flow as usize].application.waits_for_close = true;
            return false;
        }
        let now = self.now();
        let this = &mut self.flows[flow as usize];
        let Transport::Tcp(tcp) = &mut this.transport else {
            unreachable!("flow {flow} has files and no connection")
        };
        tcp.source.past = tcp.source.past.and(&Baseline::of(&tcp.sender, &tcp.receiver));
        this.ends = self.directory.renew(flow);
        [tcp.sender, tcp.receiver] = tcp.source.open(&this.ends, now);
        tcp.received = 0;
        this.application.written = 0;
        // Offsets start anew.
        self.meter.flows[flow as usize].forget_below(u64::MAX);
        true
    }

    /// Both ends are through; the sender may still linger for what comes late (TIME-WAIT).
    fn is_closed(&self, flow: u32) -> bool {
        let Transport::Tcp(tcp) = &self.flows[flow as usize].transport else { return false };
        matches!(tcp.sender.state(), State::TimeWait | State::Closed) && tcp.receiver.state() == State::Closed
    }
}
