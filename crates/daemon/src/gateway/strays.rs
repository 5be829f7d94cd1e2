//! Connections whose acknowledgements go another way for a while.
//!
//! Packets that the connection tracker calls invalid are not queued. The tracker calls packets invalid that lie outside the windows
//! it has seen. If acknowledgements pass elsewhere, that is every packet after a while, even when acknowledgements come back later.
//! Such a connection would stay out of sight. So the daemon asks the tracker to be liberal about a connection of which one
//! direction falls silent. The hosts' own TCP discards foreign packets, and the engine judges by windows of its own.

use crate::config::{Config, Datapath};
use meshpace_gateway::{Endpoint, FlowKey};
use meshpace_linux::Conntrack;
use std::io::ErrorKind;
use std::net::SocketAddr;

/// See the module's description.
#[derive(Debug, Default)]
pub struct Strays {
    tracker: Option<Conntrack>,
    /// It was said that it cannot be asked.
    complained: bool,
}

impl Strays {
    /// Has the tracker be liberal about these connections, where packets come by its leave.
    pub fn forgive(&mut self, config: &Config, strayed: &[FlowKey]) {
        if strayed.is_empty() || config.datapath != Datapath::Nfqueue || self.complained {
            return;
        }
        if let Err(why) = self.ask(strayed) {
            self.complained = true;
            eprintln!(
                "meshpaced: connections whose acknowledgements go another way for a while stay out of sight: the connection tracker cannot be \
                 asked to be liberal ({why}; CONFIG_NF_CT_NETLINK, or sysctl net.netfilter.nf_conntrack_tcp_be_liberal=1)"
            );
        }
    }

    fn ask(&mut self, strayed: &[FlowKey]) -> std::io::Result<()> {
        let tracker = match self.tracker.take() {
            Some(tracker) => tracker,
            None => Conntrack::open()?,
        };
        let tracker = self.tracker.insert(tracker);
        for FlowKey { wireless, wired } in strayed {
            match tracker.be_liberal(address(wireless), address(wired)) {
                // It has ended, or is not tracked: then nothing of it is invalid.
                Err(why) if why.kind() == ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }
}

const fn address(end: &Endpoint) -> SocketAddr {
    SocketAddr::new(end.address, end.port)
}
