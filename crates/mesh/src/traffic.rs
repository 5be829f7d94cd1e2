//! Applications: what is offered to the transport, and when.

use crate::ends::Role;
use crate::flow::{RunningFlow, Transport, UdpFlow};
use crate::simulation::{Simulation, Timer};
use meshpace_relay::packet::{Body, Class, Datagram, Packet, Stamp};
use meshpace_scenario::App;
use meshpace_tcp::{State, WriteError};
use meshpace_units::{Bytes, Rate, Span};

/// IP header without options.
const IP_HEADER: Bytes = Bytes(20);

impl Simulation<'_> {
    /// A flow's application has something to do: start, stop, the next packet or file.
    pub(crate) fn application(&mut self, flow: u32) {
        let now = self.now();
        self.tell_activity(flow);
        let this = &mut self.flows[flow as usize];
        if this.application.stopped {
            return;
        }
        if this.spec.stop.is_some_and(|stop| stop <= now) {
            this.application.stopped = true;
            if let Transport::Tcp(tcp) = &mut this.transport {
                tcp.sender.close();
                self.pump(flow, true);
            }
            return;
        }
        if self.rests(flow) {
            return;
        }
        let app = self.flows[flow as usize].spec.app;
        match app {
            App::Http { connection_per_file: true, .. } if !self.connection_for_file(flow) => {}
            App::Ftp | App::Transfer { .. } | App::Http { .. } => {
                self.write_to_connection(flow);
                self.pump(flow, true);
            }
            App::Cbr { rate, packet, .. } => {
                self.send_datagram(flow, packet);
                self.next_datagram(flow, packet, rate);
            }
            App::Echo { packet, interval, .. } => {
                self.send_datagram(flow, packet);
                self.wake_application(flow, interval);
            }
            App::SelfSimilar { rate, packet, burst_mean, shape, .. } => {
                let application = &mut self.flows[flow as usize].application;
                if application.size == 0 {
                    let drawn = application.stream.pareto(pareto_scale(burst_mean.0 as f64, shape), shape);
                    application.size = whole_bytes(drawn);
                }
                let payload = Bytes(packet.0.min(application.size));
                application.size -= payload.0;
                let over = application.size == 0;
                self.send_datagram(flow, payload);
                if over {
                    self.pause_burst(flow, payload, rate);
                } else {
                    self.next_datagram(flow, payload, rate);
                }
            }
        }
    }

    /// Tells the network whether a flow goes on.
    #[inline]
    fn tell_activity(&mut self, flow: u32) {
        let (this, now) = (&self.flows[flow as usize], self.network.now());
        if let Some(account) = this.account {
            self.network.set_active(account, this.is_on(now));
        }
    }

    /// True if there is nothing to do now: the application pauses, or this wake-up is left over from before a pause.
    fn rests(&mut self, flow: u32) -> bool {
        let now = self.now();
        let RunningFlow { spec, transport, application, .. } = &mut self.flows[flow as usize];
        match spec.pauses.get(application.pauses_over) {
            Some((_, until)) if *until <= now => {
                application.pauses_over += 1;
                return false;
            }
            Some((from, _)) if *from <= now => {
                // What was sent is delivered, and nothing follows it for now.
                if let Transport::Tcp(tcp) = transport {
                    tcp.sender.write_no_more();
                }
                return true;
            }
            _ => {}
        }
        application.wakes.is_some_and(|wakes| wakes != now)
    }

    /// Schedules the start, the pauses, and the stop if there is one.
    pub(crate) fn schedule_application(&mut self, flow: u32) {
        let spec = &self.flows[flow as usize].spec;
        self.network.schedule(spec.start, Timer::Application(flow));
        for (from, until) in &spec.pauses {
            self.network.schedule(*from, Timer::Application(flow));
            self.network.schedule(*until, Timer::Application(flow));
        }
        if let Some(stop) = spec.stop {
            self.network.schedule(stop.max(spec.start), Timer::Application(flow));
        }
    }

    fn write_to_connection(&mut self, flow: u32) {
        let now = self.network.now();
        let RunningFlow { spec, transport, application, .. } = &mut self.flows[flow as usize];
        let Transport::Tcp(tcp) = transport else { unreachable!("{} runs over TCP", spec.id) };
        let size = match spec.app {
            App::Ftp => {
                // One connection for all periods: if its peer was given up in an earlier one, nothing follows.
                if tcp.sender.state() != State::Closed {
                    writable(tcp.sender.write_endless());
                }
                return;
            }
            App::Transfer { bytes } => bytes.0,
            App::Http { file_mean, file_shape, .. } => whole_bytes(
                application.stream.pareto(pareto_scale(file_mean.0 as f64, file_shape), file_shape),
            ),
            App::Cbr { .. } | App::Echo { .. } | App::SelfSimilar { .. } => {
                unreachable!("{} runs over UDP", spec.id)
            }
        };
        application.started = now;
        application.first_packet = None;
        application.size = size;
        application.written += size;
        writable(tcp.sender.write(size));
        if matches!(spec.app, App::Transfer { .. } | App::Http { connection_per_file: true, .. }) {
            tcp.sender.close();
        }
    }

    /// The receiver has `received` bytes: a file may be complete.
    pub(crate) fn check_file(&mut self, flow: u32, received: u64) {
        let now = self.network.now();
        let RunningFlow { spec, application, .. } = &mut self.flows[flow as usize];
        if received < application.written || application.size == 0 {
            return;
        }
        let meter = &mut self.meter.flows[flow as usize];
        match spec.app {
            App::Transfer { .. } => {
                application.completed = application.completed.or(Some(now));
                self.tell_activity(flow);
            }
            App::Http { pause_mean, clock, .. } => {
                let took = now.saturating_since(application.file_began(clock)).as_secs_f64();
                if meter.is_measuring() && took > 0.0 {
                    meter.transfers.add(application.size as f64 * 8.0 / took);
                }
                application.size = 0;
                let pause = application.stream.exponential(pause_mean.as_secs_f64());
                self.network.schedule(now + Span::from_secs_f64(pause), Timer::Application(flow));
            }
            App::Ftp | App::Cbr { .. } | App::Echo { .. } | App::SelfSimilar { .. } => {}
        }
    }

    fn send_datagram(&mut self, flow: u32, payload: Bytes) {
        let now = self.now();
        let sent = &mut self.udp(flow).sent;
        let stamp = Stamp { number: *sent, sent: now };
        *sent += 1;
        self.put_datagram(flow, Role::Sender, payload, stamp);
    }

    /// An end of a flow sends a datagram to the other one.
    fn put_datagram(&mut self, flow: u32, by: Role, payload: Bytes, stamp: Stamp) {
        let header = self.udp(flow).header;
        let RunningFlow { spec, from, to, ends, paths, account, .. } = &self.flows[flow as usize];
        let (here, source, destination) = match by {
            Role::Sender => (*from, ends.sender, ends.receiver),
            Role::Receiver => (*to, ends.receiver, ends.sender),
        };
        let (source_port, destination_port) = (source.port(), destination.port());
        let body = Body::Udp(Datagram { source_port, destination_port, payload, stamp });
        let size = payload + header + IP_HEADER;
        let mut packet = Packet::new(source.ip(), destination.ip(), size, Class::Data, body);
        packet.path = paths.map(|[there, back]| if by == Role::Sender { there } else { back });
        packet.account = *account;
        packet.dscp = spec.dscp;
        self.network.send(here, packet);
    }

    fn udp(&mut self, flow: u32) -> &mut UdpFlow {
        match &mut self.flows[flow as usize].transport {
            Transport::Udp(udp) => udp,
            Transport::Tcp(_) => unreachable!("flow {flow} runs over UDP"),
        }
    }

    /// The next packet follows when this one's payload has passed at the flow's rate.
    fn next_datagram(&mut self, flow: u32, payload: Bytes, rate: Rate) {
        self.wake_application(flow, spacing(payload, rate));
    }

    fn pause_burst(&mut self, flow: u32, payload: Bytes, rate: Rate) {
        let RunningFlow { spec, application, .. } = &mut self.flows[flow as usize];
        let App::SelfSimilar { shape, pause_mean, .. } = spec.app else {
            unreachable!("{} has bursts", spec.id)
        };
        let pause = application.stream.pareto(pareto_scale(pause_mean.as_secs_f64(), shape), shape);
        // A Pareto pause has no upper end; one of 30 years is as good as none.
        let pause = Span::from_secs_f64(pause.min(1e9));
        self.wake_application(flow, spacing(payload, rate) + pause);
    }

    fn wake_application(&mut self, flow: u32, after: Span) {
        let at = self.now() + after;
        self.flows[flow as usize].application.wakes = Some(at);
        self.network.schedule(at, Timer::Application(flow));
    }

    /// A datagram arrives at an end of its flow; only the first copy of it counts. A request for an echo is answered with
    /// what it says, and the answer is what counts: its delay is that of both ways.
    pub(crate) fn datagram_arrives(&mut self, flow: u32, at: Role, datagram: &Datagram, travelled: u32) {
        let now = self.now();
        if let (App::Echo { .. }, Role::Receiver) = (self.flows[flow as usize].spec.app, at) {
            self.put_datagram(flow, Role::Receiver, datagram.payload, datagram.stamp);
            return;
        }
        let meter = &mut self.meter.flows[flow as usize];
        if meter.is_first_copy(datagram.stamp.number) {
            let delay = now - datagram.stamp.sent;
            meter.counts(delay, travelled);
            if at == Role::Sender {
                self.udp(flow).round_trip = Some(delay);
            }
            self.count_delivery(flow, datagram.payload.0, 1);
        }
    }
}

/// The application writes nothing after it closed a connection or gave it up; a peer never resets it.
fn writable(result: Result<(), WriteError>) {
    result.unwrap_or_else(|error| panic!("an application writes to its own connection: {error}"));
}

fn spacing(payload: Bytes, rate: Rate) -> Span {
    rate.time_to_send(payload).unwrap_or_else(|| panic!("a flow of {rate:?}"))
}

/// The smallest value of a Pareto distribution with this mean.
fn pareto_scale(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// At least one byte, at most a petabyte: the tail of a Pareto distribution has no end.
fn whole_bytes(drawn: f64) -> u64 {
    drawn.clamp(1.0, 1e15) as u64
}
