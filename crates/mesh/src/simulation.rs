//! The simulation: end points, applications and meters that hang on the network.
//!
//! Each concern adds its methods in a module of its own: [`crate::transport`] the end points, [`crate::traffic`] the
//! applications, [`crate::sampling`] and [`crate::measure`] what is measured, [`crate::report`] what comes of it.

use crate::ends::Directory;
use crate::flow::RunningFlow;
use crate::measure::Meter;
use crate::probe::Probe;
use meshpace_network::{Alarm, Network, Step};
use meshpace_units::Instant;

/// One run's state.
pub struct Simulation<'a> {
    /// What carries the packets.
    pub network: Network<Timer>,
    /// Whose packets are whose.
    pub directory: Directory,
    /// The flows.
    pub flows: Vec<RunningFlow<'a>>,
    /// Deadlines of the connections: sender and receiver of each flow.
    pub connection_alarms: Vec<Alarm>,
    /// What is measured.
    pub meter: Meter,
    /// The observers.
    pub probe: &'a mut dyn Probe,
}

/// The timers of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// A TCP connection's deadline; the index is twice the flow, plus one for the receiving end.
    Connection(u32),
    /// A flow's application has something to do.
    Application(u32),
    /// Time to sample estimates and queues.
    Sample,
    /// The warm-up is over.
    MeasurementBegins,
    /// A fairness window ends; the index is that of the window's length.
    WindowEnds(u32),
}

impl Simulation<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now()
    }

    /// Lets things happen up to `end`, or until the measurement has all that it wants.
    pub fn run(&mut self, end: Instant) {
        while let Some(step) = &self.network.step(end, self.probe) {
            match step {
                Step::Arrival(_, packet) => self.arrive(packet),
                Step::Left(ticket) => self.left_host(*ticket),
                Step::Timer(timer) => self.fires(*timer),
            }
            if self.meter.is_complete() {
                break;
            }
        }
    }

    /// A timer fires.
    pub(crate) fn fires(&mut self, timer: Timer) {
        match timer {
            Timer::Connection(index) => self.connection_alarm(index),
            Timer::Application(flow) => self.application(flow),
            Timer::Sample => self.sample(),
            Timer::MeasurementBegins => self.measurement_begins(),
            Timer::WindowEnds(window) => self.window_ends(window),
        }
    }
}
