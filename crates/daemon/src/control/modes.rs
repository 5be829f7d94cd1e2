//! A configuration with other modes.

use crate::config::{Config, Mode, Subnet};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr};

/// The configuration with another mode for a subnet or for the whole.
pub(super) fn with_mode(config: &Config, mode: Mode, subnet: Option<IpNet>) -> Config {
    let mut config = config.clone();
    let Some(prefix) = subnet.map(|subnet| subnet.trunc()) else {
        config.mode = mode;
        return config;
    };
    if let Some(known) = config.subnets.iter_mut().find(|known| known.prefix == prefix) {
        known.mode = Some(mode);
        return config;
    }
    // Longest prefix first, as `Config::policy` expects.
    let at = config.subnets.partition_point(|known| known.prefix.prefix_len() >= prefix.prefix_len());
    config.subnets.insert(at, Subnet { mode: Some(mode), ..Subnet::of(prefix) });
    config
}

/// The answer about a mode that is in force now. If the mode is for all hosts, the answer names the subnets
/// that keep another mode.
pub(super) fn said_of_mode(config: &Config, mode: Mode, subnet: Option<IpNet>) -> String {
    let changed = |whose: &str| format!("{whose}: {}, until the next reload", mode.name());
    if let Some(subnet) = subnet {
        return changed(&subnet.to_string());
    }
    let keeps = config.subnets.iter().filter_map(|subnet| Some((subnet.prefix, subnet.mode?)));
    let kept: Vec<_> = keeps
        .filter(|(_, own)| *own != mode)
        .map(|(prefix, own)| format!("{prefix} keeps {}", own.name()))
        .collect();
    match kept.is_empty() {
        true => changed("all"),
        false => format!("{}; {}", changed("all but these"), kept.join(", ")),
    }
}

/// The configuration with the modes of `earlier`, as far as that knows its subnets.
pub(super) fn with_modes_of(config: &Config, earlier: &Config) -> Config {
    let mut config = config.clone();
    config.mode = earlier.mode;
    for subnet in &mut config.subnets {
        let known = earlier.subnets.iter().find(|known| known.prefix == subnet.prefix);
        subnet.mode = known.and_then(|known| known.mode);
    }
    config
}

/// True if flows of that mesh host are paced under one configuration and not under the earlier one.
pub(super) fn is_newly_paced(config: &Config, earlier: &Config, host: IpAddr) -> bool {
    config.policy(host).mode == Mode::Pace && earlier.policy(host).mode != Mode::Pace
}

/// True if that is so of any mesh host.
pub(super) fn paces_more(config: &Config, earlier: &Config) -> bool {
    let subnets = config.subnets.iter().chain(&earlier.subnets).map(|subnet| subnet.prefix.addr());
    // A host of no subnet: no host has the unspecified address.
    let others = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    subnets.chain([others]).any(|host| is_newly_paced(config, earlier, host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let text = "mode = \"observe\"\n[mesh]\ninterfaces = [\"mesh0\"]\n\
                    [[subnet]]\nprefix = \"10.1.0.0/16\"\nmode = \"off\"\npaced_share = 0.5";
        Config::parse("test", text.as_bytes()).unwrap()
    }

    #[test]
    fn a_mode_is_set_for_all_for_a_known_subnet_or_for_a_new_one() {
        let mode = |config: &Config, host: &str| config.policy(host.parse().unwrap()).mode;
        let all = with_mode(&config(), Mode::Pace, None);
        assert_eq!((mode(&all, "10.2.0.1"), mode(&all, "10.1.0.1")), (Mode::Pace, Mode::Off));
        let known = with_mode(&config(), Mode::Pace, Some("10.1.0.0/16".parse().unwrap()));
        assert_eq!(known.subnets.len(), 1);
        assert_eq!((mode(&known, "10.2.0.1"), mode(&known, "10.1.0.1")), (Mode::Observe, Mode::Pace));
        assert_eq!(known.policy("10.1.0.1".parse().unwrap()).paced_share, 0.5, "the rest stays");
        let new = with_mode(&config(), Mode::Pace, Some("10.1.2.7/24".parse().unwrap()));
        assert_eq!((mode(&new, "10.1.2.1"), mode(&new, "10.1.3.1")), (Mode::Pace, Mode::Off));
        assert_eq!(new.policy("10.1.2.1".parse().unwrap()).paced_share, 0.5, "as the wider subnet says");
        let wider = with_mode(&config(), Mode::Pace, Some("10.0.0.0/8".parse().unwrap()));
        assert_eq!((mode(&wider, "10.9.0.1"), mode(&wider, "10.1.0.1")), (Mode::Pace, Mode::Off));
    }

    #[test]
    fn a_mode_for_all_names_the_subnets_that_keep_another() {
        let said = |mode, subnet| said_of_mode(&config(), mode, subnet);
        assert_eq!(
            said(Mode::Pace, None),
            "all but these: pace, until the next reload; 10.1.0.0/16 keeps off",
            "nothing of it is paced"
        );
        assert_eq!(said(Mode::Off, None), "all: off, until the next reload");
        let subnet = "10.2.0.0/16".parse().ok();
        assert_eq!(said(Mode::Pace, subnet), "10.2.0.0/16: pace, until the next reload");
    }

    #[test]
    fn the_way_back_has_the_earlier_modes_and_nothing_else_of_earlier() {
        let paced = with_mode(&config(), Mode::Pace, "10.1.2.0/24".parse().ok());
        let paced = Config { paced_share: 0.25, ..with_mode(&paced, Mode::Pace, None) };
        let back = with_modes_of(&paced, &config());
        let mode = |host: &str| back.policy(host.parse().unwrap()).mode;
        assert_eq!(
            (mode("10.1.2.1"), mode("10.1.3.1"), mode("10.2.0.1")),
            (Mode::Off, Mode::Off, Mode::Observe)
        );
        assert_eq!(back.paced_share, 0.25);
        assert!(
            paces_more(&paced, &config()) && !paces_more(&back, &config()) && !paces_more(&config(), &paced)
        );
        let newly = |host: &str| is_newly_paced(&paced, &config(), host.parse().unwrap());
        assert!(newly("10.1.2.1") && newly("10.2.0.1") && !newly("10.1.3.1"), "10.1.0.0/16 keeps off");
        let only = with_mode(&config(), Mode::Pace, "10.1.2.0/24".parse().ok());
        assert!(paces_more(&only, &config()));
    }
}
