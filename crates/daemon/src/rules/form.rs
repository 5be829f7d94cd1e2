//! Where the rules stand and what they spare: as good as the kernel allows.

use std::fmt;

/// A place on a packet's way through the FORWARD hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Behind the firewall's filter: iptables' table `security`, or as late in nftables.
    AfterFilter,
    /// Before it: iptables' table `mangle`, which every kernel has. What the firewall is about to drop is queued too.
    BeforeFilter,
}

/// See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Where the rules stand.
    pub hook: Hook,
    /// They queue only while the data thread renews a lease ([`crate::lease`]).
    pub leased: bool,
    /// They leave alone what the connection tracker calls invalid.
    pub spares_invalid: bool,
    /// They keep the connection tracker, and with it address translation, from what the gateway sends again: it would take
    /// that for a connection of its own and give it another port.
    pub repairs_untracked: bool,
    /// Where only so many packets a second are to be queued, they let the others by.
    pub samples: bool,
}

impl Form {
    /// The best one of all packets.
    #[cfg(test)]
    pub const BEST: Self = Self {
        hook: Hook::AfterFilter,
        leased: true,
        spares_invalid: true,
        repairs_untracked: true,
        samples: false,
    };

    /// The best one first.
    pub fn all() -> impl Iterator<Item = Self> {
        let hooks = [Hook::AfterFilter, Hook::BeforeFilter].into_iter();
        let leased = hooks.flat_map(|hook| [true, false].map(|leased| (hook, leased)));
        let spared = leased.flat_map(|(hook, leased)| [true, false].map(|spared| (hook, leased, spared)));
        let forms = spared.flat_map(|(hook, leased, spares_invalid)| {
            [true, false].map(|repairs_untracked| (hook, leased, spares_invalid, repairs_untracked))
        });
        forms.flat_map(|(hook, leased, spares_invalid, repairs_untracked)| {
            [true, false].map(|samples| Self { hook, leased, spares_invalid, repairs_untracked, samples })
        })
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.hook {
            Hook::AfterFilter => "behind the firewall's filter",
            Hook::BeforeFilter => "before the firewall's filter",
        })?;
        f.write_str(if self.leased { "" } else { ", without a lease" })?;
        f.write_str(if self.spares_invalid { "" } else { ", invalid packets too" })?;
        f.write_str(if self.repairs_untracked { "" } else { ", repairs tracked" })?;
        f.write_str(if self.samples { ", by samples where there is much" } else { "" })
    }
}
