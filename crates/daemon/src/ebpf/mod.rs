//! `datapath = "ebpf"`: the packets stay in the kernel, where tc programs pace by departure times and measure; the law
//! and goodput control are here.

mod datapath;
mod engine;
mod kernel;
mod layout;
mod qdisc;

pub use datapath::{Datapath, open};
