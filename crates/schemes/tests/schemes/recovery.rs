//! Congestion control and loss recovery are chosen apart; what nobody chose goes with the congestion control.

use super::{flow, scheme, written};
use meshpace_keys::RawValue;
use meshpace_schemes::{Scheme, places};

fn word(text: &str) -> RawValue {
    text.into()
}

fn recovery(scheme: &Scheme) -> Option<String> {
    scheme.get("recovery").map(|setting| setting.to_string())
}

#[test]
fn it_goes_with_the_congestion_control_until_somebody_chooses() {
    let mut mine = scheme("newreno-rfc");
    for (congestion, goes) in [
        ("tahoe", "go-back"),
        ("cubic", "newreno"),
        ("sack", "sack"),
        ("daa", "early"),
        ("copa", "rack"),
        ("bbr", "rack"),
        ("bbr3", "rack"),
        ("newreno", "newreno"),
    ] {
        mine.set("congestion", &word(congestion)).unwrap();
        assert_eq!(recovery(&mine).as_deref(), Some(format!("{goes:?}").as_str()), "{congestion}");
    }
    mine.set("recovery", &word("sack")).unwrap();
    mine.set("congestion", &word("cubic")).unwrap();
    assert_eq!(recovery(&mine).as_deref(), Some("\"sack\""), "it was chosen");
    // In whatever order a table says so.
    let mut both = scheme("newreno-rfc");
    both.set_all([("recovery", &word("sack")), ("congestion", &word("cubic"))]).unwrap();
    assert_eq!(both.sender(&flow(true)).control.asks(), mine.sender(&flow(true)).control.asks());
    assert_eq!(written(&both.sender(&flow(true))), written(&mine.sender(&flow(true))));
}

#[test]
fn renos_window_with_sack_is_sack() {
    let mut mine = scheme("newreno-rfc");
    mine.set("recovery", &word("sack")).unwrap();
    assert_eq!(written(&mine.sender(&flow(true))), written(&scheme("sack-rfc").sender(&flow(true))));
}

#[test]
fn where_a_control_finds_its_losses_itself_there_is_no_such_choice() {
    for name in ["few", "rcp", "wcp", "wcpcap"] {
        let mut mine = scheme(name);
        assert_eq!(recovery(&mine), None, "{name}");
        let refused = mine.set("recovery", &word("sack")).unwrap_err();
        assert_eq!(refused.found, "a parameter of other schemes", "{name}");
        mine.set_all([
            ("congestion", &word("newreno")),
            ("recovery", &word("sack")),
            ("relay", &word("drop-tail")),
        ])
        .unwrap_or_else(|(_, error)| panic!("{name}: {error}"));
        assert_eq!(recovery(&mine).as_deref(), Some("\"sack\""), "{name}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_what_does() {
    let refuse = |name: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(key, value)| (*key, word(value))).collect();
        scheme(name).set_all(sets.iter().map(|(key, value)| (*key, value))).unwrap_err().1.to_string()
    };
    assert_eq!(
        refuse("tahoe", &[("recovery", "newreno")]),
        "recovery: found congestion = \"tahoe\" beside recovery = \"newreno\"; allowed: recovery = \"go-back\" beside it"
    );
    // WiFu's TCP never offers selective acknowledgements.
    assert_eq!(
        refuse("newreno", &[("tcp_profile", "wifu"), ("recovery", "sack")]),
        "recovery: found recovery = \"sack\" beside tcp_profile = \"wifu\"; allowed: tcp_profile = \"ns2\" or \"rfc\" or \"linux\" beside it"
    );
    // A control chosen beside a recovery that Linux's TCP does not have: what the recovery would be.
    assert_eq!(
        refuse("newreno", &[("tcp_profile", "linux")]),
        "tcp_profile: found tcp_profile = \"linux\" beside recovery = \"newreno\"; allowed: recovery = \"rack\" beside it"
    );
}

/// Linux's TCP has no recovery but RACK: a control that has another, or finds its losses itself, cannot be driven by it,
/// whatever is said of recovery; the answer is which controls can.
#[test]
fn a_control_that_a_profile_cannot_drive_is_refused_with_those_that_it_can() {
    let of = |key: &str| places().iter().find(|place| place.key == key).expect(key).choices();
    let mut refused = Vec::new();
    for congestion in of("congestion") {
        let needed = congestion.needs.iter().filter(|need| need.key != "recovery");
        let needed: Vec<_> = needed.map(|need| (need.key, word(need.words[0]))).collect();
        let pair = [("tcp_profile", word("linux")), ("congestion", word(congestion.word))];
        let sets: Vec<_> = pair.iter().chain(&needed).map(|(key, value)| (*key, value)).collect();
        for mut mine in [scheme("newreno"), scheme("linux-reno")] {
            let refusal = mine.set_all(sets.clone()).err().map(|(_, error)| error);
            let driven = refusal.as_ref().is_none_or(|error| !error.found.contains("congestion"));
            if driven {
                mine.set_all(sets.iter().copied().chain([("recovery", &word("rack"))])).unwrap();
                assert_eq!(mine.sender(&flow(true)).mss, 1460, "{}", congestion.word);
                continue;
            }
            let error = refusal.unwrap();
            assert_eq!(
                (error.found.as_str(), error.allowed.as_str()),
                (
                    format!("tcp_profile = \"linux\" beside congestion = {:?}", congestion.word).as_str(),
                    "congestion = \"newreno\" or \"cubic\" or \"vegas\" or \"westwood\" or \"copa\" or \"ledbat\" or \"bbr\" or \"bbr3\" or \"daa\" or \"xcp\" or \"delay-rate\" beside it"
                )
            );
            refused.push(congestion.word);
        }
    }
    refused.dedup();
    assert_eq!(refused, ["tahoe", "sack", "few", "rcp", "wcp", "wcpcap"]);
}

/// Every congestion control with every recovery is a sender, or is refused with a reason.
#[test]
fn every_pair_is_a_sender_or_refused() {
    let of = |key: &str| places().iter().find(|place| place.key == key).expect(key).choices();
    let mut made = 0;
    for congestion in of("congestion") {
        for recovery in of("recovery") {
            let mut mine = scheme("newreno-rfc");
            let needed = congestion.needs.iter().filter(|need| need.key != "recovery");
            let needed: Vec<_> = needed.map(|need| (need.key, word(need.words[0]))).collect();
            let pair = [("congestion", word(congestion.word)), ("recovery", word(recovery.word))];
            let sets: Vec<_> = pair.iter().chain(&needed).map(|(key, value)| (*key, value)).collect();
            match mine.set_all(sets) {
                Ok(()) => {
                    made += 1;
                    assert_eq!(mine.sender(&flow(true)).mss, 1460);
                    assert_eq!(
                        (mine.choice("congestion").word, mine.choice("recovery").word),
                        (congestion.word, recovery.word)
                    );
                }
                Err((_, error)) => assert!(
                    !error.allowed.is_empty() && error.found.contains("recovery")
                        || error.found.starts_with("a parameter"),
                    "{error}"
                ),
            }
        }
    }
    // newreno, cubic, vegas, westwood, ledbat, daa and xcp with each; tahoe, sack, copa, both BBRs and delay-rate with their own.
    assert_eq!(made, 7 * of("recovery").len() + 6);
}
