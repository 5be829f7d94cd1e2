//! The engine as a whole: scenario text in, result out.

mod accounting;
mod apps;
mod arp;
mod building;
mod delay;
mod determinism;
mod ends;
mod explicit;
mod extremes;
mod features;
mod gap;
mod golden;
mod goodput_control;
mod interval;
mod links;
mod llap;
mod losses;
mod mobility;
mod models;
mod random;
mod relays;
mod routing;
mod saturation;
mod schemes;
mod support;
mod throttle;
