//! What the live part asks of the Linux kernel, and nothing else: no protocol, no policy. All of meshpace's `unsafe`
//! code is in this crate; most of its calls go through nix's safe wrappers.
//!
//! | piece | kernel side |
//! |---|---|
//! | [`monotonic_now`], [`thread_cpu_time`] | `clock_gettime(2)` |
//! | [`Poller`], [`Deadline`], [`Waker`], [`Signals`] | `epoll(7)`, `timerfd_create(2)`, `eventfd(2)`, `signalfd(2)` |
//! | [`NfQueue`] | NFQUEUE over netlink, `include/uapi/linux/netfilter/nfnetlink_queue.h` |
//! | [`Conntrack`] | connection tracking over netlink, `include/uapi/linux/netfilter/nfnetlink_conntrack.h` |
//! | [`Tun`] | `Documentation/networking/tuntap.rst` |
//! | [`RawSender`], [`FrameSender`] | `raw(7)`, `ipv6(7)`; `packet(7)` |
//! | [`EchoSockets`] | `raw(7)`, `icmp(7)`; `linux/icmp.h`, `linux/icmpv6.h` |
//! | [`Namespace`] | `setns(2)`, `network_namespaces(7)` |
//! | [`interface`] | `netdevice(7)` |
//! | [`Peer`], [`effective_user`] | `unix(7)`: `SO_PEERCRED`; `geteuid(2)` |
//! | [`give_back_large_blocks`] | `mallopt(3)` |
//! | [`realtime`](realtime()), [`Standby`] | `sched(7)`, `mlockall(2)`, `PR_SET_TIMERSLACK(2const)`, `sched_setaffinity(2)` |
//! | [`stolen_time`] | `proc_stat(5)` |
//! | [`bpf`] | `bpf(2)` |
//!
//! # Threads and namespaces
//! Descriptors stay in the network namespace in which they were opened; a thread enters another one only for the
//! length of [`Namespace::within`]. Every [`std::os::fd::AsFd`] type here can be given to a [`Poller`], and none blocks
//! unless its documentation says so.
#![cfg(target_os = "linux")]

mod address;
pub mod bpf;
mod clock;
mod conntrack;
mod deadline;
mod echo;
#[cfg(feature = "foreign")]
pub mod foreign;
mod frame;
mod heap;
pub mod interface;
mod namespace;
mod netlink;
mod nfqueue;
mod peer;
mod poller;
mod raw;
mod realtime;
mod rtnetlink;
mod signals;
mod standby;
mod stolen;
mod tun;
mod waker;

pub use clock::{monotonic_now, thread_cpu_time};
pub use conntrack::Conntrack;
pub use deadline::Deadline;
pub use echo::EchoSockets;
pub use frame::FrameSender;
pub use heap::give_back_large_blocks;
pub use namespace::Namespace;
pub use nfqueue::{NfQueue, Options, PacketId, Queued, Received, Statistics, Verdicts};
pub use peer::{Peer, effective_user};
pub use poller::Poller;
pub use raw::RawSender;
pub use realtime::{Realtime, lift_memory_lock_limit, realtime};
pub use signals::{Signal, Signals};
pub use standby::Standby;
pub use stolen::stolen_time;
pub use tun::{Tun, TunOptions};
pub use waker::Waker;
