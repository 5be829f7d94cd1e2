//! Which hosts are asked for an echo, and when.

use super::*;
use alloc::collections::BTreeSet;
use core::net::Ipv4Addr;
use proptest::prelude::*;

fn host(n: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, n).into()
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// Sends to so many hosts, one packet a millisecond in turn, and answers 30 ms later those that answer. When each was asked.
fn asked(hosts: u8, a_second: u32, seconds: u64, answers: impl Fn(u8) -> bool) -> Vec<(u64, u8)> {
    let mut probes = Probes::new(100);
    let (mut asked, mut answered) = (Vec::new(), 0);
    for at in 0..seconds * 1_000 {
        let n = (at % u64::from(hosts)) as u8;
        if let Some(number) = probes.ask(ms(at), host(n), None, a_second) {
            if answers(n) {
                assert_eq!(probes.comes(ms(at + 30), host(n), number), Some(Span::from_millis(30)));
                answered += 1;
            }
            asked.push((at, n));
        }
    }
    assert!(answered > 0 || !(0..hosts).any(answers));
    asked
}

fn of(asked: &[(u64, u8)], host: u8) -> Vec<u64> {
    asked.iter().filter(|(_, of)| *of == host).map(|(at, _)| *at).collect()
}

#[test]
fn a_host_that_is_sent_to_is_asked_five_times_a_second() {
    let asked = asked(1, 20, 9, |_| true);
    assert_eq!(of(&asked, 0), (0..45).map(|n| 200 * n).collect::<Vec<_>>());
}

#[test]
fn none_is_asked_where_none_is_allowed() {
    assert_eq!(asked(3, 0, 2, |_| false), []);
}

/// Of many hosts four have a turn at a time, and each comes to have its five round trips.
#[test]
fn hosts_are_asked_in_turn_several_times_each() {
    let asked = asked(40, 20, 130, |_| true);
    for n in 0..40 {
        let times = of(&asked, n);
        assert!(times.len() >= 5, "{n}: {times:?}");
        assert!(times.windows(2).take(4).all(|pair| pair[1] - pair[0] < 1_000), "{n}: {times:?}");
    }
    for second in 0..130 {
        let at_once: BTreeSet<u8> =
            asked.iter().filter(|(at, _)| at / 1_000 == second).map(|(_, n)| *n).collect();
        assert!(at_once.len() <= 8, "four, and those that take their places: {at_once:?}");
    }
}

#[test]
fn a_silent_host_is_asked_ever_more_seldom_and_holds_no_other_up() {
    let asked = asked(2, 5, 300, |n| n == 1);
    let silent = of(&asked, 0);
    assert!(silent.len() < 22, "{silent:?}");
    let last = silent.windows(2).last().expect("several");
    assert!(last[1] - last[0] > 60_000, "{silent:?}");
    assert!(of(&asked, 1).len() > 1_100, "the other one is asked for 4.7 of 5 times");
}

#[test]
fn a_host_that_answers_again_is_asked_again() {
    let mut probes = Probes::new(10);
    let mut last = None;
    for at in 0..20_000 {
        last = probes.ask(ms(at), host(1), None, 5).map(|number| (at, number)).or(last);
    }
    let (at, number) = last.expect("asked");
    let later = at + 1_000;
    assert_eq!(probes.comes(ms(later), host(1), number), Some(Span::from_secs(1)));
    let times = (later..later + 1_000).filter(|at| probes.ask(ms(*at), host(1), None, 5).is_some()).count();
    assert_eq!(times, 5);
}

#[test]
fn who_tells_otherwise_is_not_asked() {
    let mut probes = Probes::new(10);
    let told = |ms| Some(Span::from_millis(ms));
    assert_eq!(probes.ask(ms(0), host(1), told(499), 5), None);
    assert!(probes.ask(ms(0), host(1), told(500), 5).is_some());
    assert_eq!(probes.ask(ms(300), host(1), told(0), 5), None);
    assert!(probes.ask(ms(300), host(2), None, 5).is_some(), "its place is free");
}

#[test]
fn what_was_not_asked_answers_nothing() {
    let mut probes = Probes::new(10);
    let number = probes.ask(ms(0), host(1), None, 20).expect("asked");
    assert_eq!(probes.comes(ms(9), host(2), number), None, "another host");
    assert_eq!(probes.comes(ms(9), host(1), number + 1), None, "another number");
    assert!(probes.comes(ms(9), host(1), number).is_some());
    assert_eq!(probes.comes(ms(9), host(1), number), None, "again");
    let numbers = [200, 400].map(|at| probes.ask(ms(at), host(1), None, 20).expect("asked"));
    assert!(probes.comes(ms(410), host(1), numbers[1]).is_some());
    assert_eq!(probes.comes(ms(420), host(1), numbers[0]), None, "overtaken");
    let number = probes.ask(ms(600), host(1), None, 20).expect("asked");
    assert_eq!(probes.comes(ms(2_600), host(1), number), None, "too late");
}

#[test]
fn of_two_in_a_row_without_an_answer_is_known_how_long_they_take_at_least() {
    let mut probes = Probes::new(10);
    let ask = |probes: &mut Probes, at| probes.ask(ms(at), host(1), None, 20).expect("asked");
    let numbers = [0, 200, 400].map(|at| ask(&mut probes, at));
    assert_eq!(probes.gone(ms(450), host(1)), None, "it may never answer");
    assert!(probes.comes(ms(460), host(1), numbers[2]).is_some());
    let mut numbers = [1_000, 1_200, 1_400];
    for (number, gone) in numbers.iter_mut().zip([None, None, Some(Span::from_millis(200))]) {
        let at = u64::from(*number);
        *number = ask(&mut probes, at);
        assert_eq!(probes.gone(ms(at), host(1)), gone, "the one that leaves at {at} tells nothing");
    }
    assert_eq!(probes.gone(ms(1_450), host(1)), Some(Span::from_millis(250)), "the second one's");
    assert!(probes.comes(ms(1_460), host(1), numbers[1]).is_some());
    assert_eq!(probes.gone(ms(1_470), host(1)), None, "one alone may be lost");
    assert_eq!(probes.gone(ms(1_470), host(2)), None);
}

proptest! {
    /// Whatever is sent to which host, and whichever answers: no more than that many requests in any second, of a host no more than five, and no
    /// more hosts than that many remembered.
    #[test]
    fn requests_and_hosts_are_bounded(
        a_second in 1u32..40,
        steps in prop::collection::vec((0u64..60, any::<u8>(), prop::option::of(0u64..1_500), any::<bool>()), 1..2_000),
    ) {
        let mut probes = Probes::new(6);
        let (mut now, mut asked): (u64, Vec<(u64, u8)>) = (0, Vec::new());
        for (wait, n, told, answers) in steps {
            now += wait;
            let Some(number) = probes.ask(ms(now), host(n), told.map(Span::from_millis), a_second) else { continue };
            prop_assert!(told.is_none_or(|told| told >= 500));
            asked.push((now, n));
            if answers {
                prop_assert!(probes.comes(ms(now + wait), host(n), number).is_some());
            }
            prop_assert!(probes.hosts.len() <= 6 && probes.turns.len() <= probes.hosts.len());
            let within = |at: &&(u64, u8)| at.0 + 1_000 > now;
            let lately: Vec<_> = asked.iter().rev().take_while(within).collect();
            prop_assert!(lately.len() <= a_second as usize, "{lately:?}");
            prop_assert!(lately.iter().filter(|(_, of)| *of == n).count() <= 5, "{lately:?}");
        }
    }
}
