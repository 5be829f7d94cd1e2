use super::*;
use crate::control::protocol::{Flows, HostShare, Hosts};
use crate::control::tests::example;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

fn screen(model: &Model, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

/// Two flows; the second gets a fifth of the mean.
fn model() -> Model {
    let fast = Flow { goodput_bps: Some(900_000), ..example::flow() };
    let slow = Flow {
        flow: "[fd00:1234:5678::3]:5001-[2001:db8::1]:443".into(),
        goodput_bps: Some(100_000),
        treatment: "observe".into(),
        paced: false,
        hops: None,
        ..example::flow()
    };
    let mut model = Model::default();
    model.on_answer(example::status(), Flows { matching: 2, known: 2, list: vec![fast, slow] });
    model
}

fn press(model: &mut Model, code: KeyCode) {
    let _ = model.on_key(KeyEvent::from(code));
}

#[test]
fn eighty_columns_show_the_essentials() {
    let screen = screen(&model(), 80, 24);
    assert!(screen[0].starts_with("meshpaced ") && screen[0].contains("mode pace"), "{}", screen[0]);
    assert!(screen[1].starts_with("Jain 0.61  mean 500 kbit/s"), "{}", screen[1]);
    let words = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&screen[2]), "flow hops wireless goodputv rate wait treatment");
    assert_eq!(words(&screen[3]), "10.1.2.3:5001-93.184.2~ 4 40 ms 900 k 265 k 21 ms pace");
    assert_eq!(words(&screen[4]), "![fd00:1234:5678::3]:50~ - 40 ms 100 k (265 k) 21 ms observe");
    assert_eq!(screen[23], KEYS);
    assert!(KEYS.len() <= 80);
}

#[test]
fn hosts_stand_above_the_flows_where_they_are_shaped() {
    let host = |name: &str, rate_bps| HostShare {
        host: name.into(),
        rate_bps,
        weight: 2,
        cap_bps: Some(2_000_000),
        found_bps: None,
        may_send_bps: None,
        mesh_wait_s: None,
        hops: 3,
        link_rate_bps: 11_000_000,
        price: 3.0,
        flows: 4,
        queued: 7,
        wait_s: Some(0.021),
        packets: 100,
        bytes: 100_000,
        dropped: 1,
        marked: 0,
    };
    let list = vec![host("10.1.2.3", 500_000), host("10.1.2.4", 400_000), host("10.1.2.5", 0)];
    let (rate_bps, by) = (1_000_000, "airtime".to_owned());
    let hosts = Hosts {
        rate_bps,
        found: None,
        by,
        known: 3,
        jain: None,
        queued: 14,
        packets: 200,
        dropped: 2,
        marked: 0,
        list,
    };
    let mut model = model();
    model.status.as_mut().expect("told").hosts = Some(hosts);
    let words = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    let narrow = screen(&model, 80, 24);
    assert_eq!(words(&narrow[2]), "host rate weight hops flows waiting wait");
    assert_eq!(words(&narrow[3]), "10.1.2.3 500 kbit/s 2 3 4 7 21 ms");
    assert!(narrow[4].contains("10.1.2.4") && narrow[5].contains("goodput"), "{narrow:?}");
    let wide = screen(&model, 140, 24);
    assert_eq!(words(&wide[3]), "10.1.2.3 500 kbit/s 2 2 Mbit/s 3 3.00 4 7 21 ms");
    assert!(screen(&model, 80, 12)[2].contains("goodput"), "of a low screen flows have all");
    for (width, height) in [(1, 1), (3, 14), (20, 15)] {
        screen(&model, width, height);
    }
    // A flow with nothing on its way is not said to starve.
    let starving = |model: &Model| screen(model, 80, 24).iter().any(|row| row.starts_with('!'));
    assert!(starving(&model));
    model.flows[1].outstanding = false;
    assert!(!starving(&model));
}

#[test]
fn a_wide_screen_shows_more_and_whole_names() {
    let screen = screen(&model(), 140, 10);
    assert!(screen[3].contains("10.1.2.3:5001-93.184.216.34:443 "), "{}", screen[3]);
    for head in ["wired", "cap", "queue", "age"] {
        assert!(screen[2].contains(head), "{}", screen[2]);
    }
    assert!(screen[3].contains("1 min 15 s"), "{}", screen[3]);
}

#[test]
fn a_guard_that_compares_says_which_side_acts() {
    let mut model = model();
    let guard = |state: &str| Guard {
        state: state.to_owned(),
        for_s: 30.0,
        pairs: 0,
        less: 0,
        ratio: None,
        message: "compares pacing with what was before, now without".to_owned(),
    };
    model.status.as_mut().unwrap().guard = Some(guard(Guard::COMPARES));
    let screens = screen(&model, 80, 24);
    assert_eq!(screens[2], "guard compares pacing with what was before, now without");
    assert!(screens[3].contains("goodput") && screens[4].contains("10.1.2.3:5001"), "{screens:#?}");
    model.status.as_mut().unwrap().guard = Some(guard(Guard::STAYS));
    assert!(screen(&model, 80, 24)[2].contains("goodput"));
}

#[test]
fn any_size_is_drawn() {
    let mut model = model();
    for (width, height) in [(1, 1), (5, 3), (20, 4), (79, 23), (300, 100)] {
        screen(&model, width, height);
    }
    (model.explaining, model.detail, model.help) = (true, Some(example::detail()), true);
    for (width, height) in [(1, 1), (3, 5), (40, 8)] {
        screen(&model, width, height);
    }
    screen(&Model::default(), 80, 24);
}

#[test]
fn the_explanation_scrolls() {
    let mut model = model();
    press(&mut model, KeyCode::Enter);
    model.on_detail(example::detail());
    let first = screen(&model, 100, 18);
    assert!(first[2].contains("10.1.2.3:5001-93.184.216.34:443"), "{}", first[2]);
    assert!(first.iter().any(|row| row.contains("Rate to the mesh")), "{first:?}");
    press(&mut model, KeyCode::PageDown);
    let later = screen(&model, 100, 18);
    assert!(later.iter().any(|row| row.contains("(2.4)")), "{later:?}");
    assert!(!later.iter().any(|row| row.contains("policy")), "{later:?}");
}

#[test]
fn help_filter_pause_and_trouble_are_shown() {
    let mut model = model();
    press(&mut model, KeyCode::Char('?'));
    assert!(screen(&model, 80, 24).iter().any(|row| row.contains("less than half of the mean goodput")));
    press(&mut model, KeyCode::Char('x'));
    "/:443".chars().for_each(|c| press(&mut model, KeyCode::Char(c)));
    assert!(screen(&model, 80, 24)[23].starts_with("filter: :443_"));
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Char('p'));
    assert!(screen(&model, 80, 24)[23].starts_with("PAUSED  filter :443: 2"));
    model.on_trouble("no daemon at /run/meshpaced/control.sock: is it running?".into());
    assert!(screen(&model, 80, 24)[23].starts_with("no daemon at"));
}

#[test]
fn the_order_is_marked_at_its_column() {
    let mut model = model();
    let head = |model: &Model| screen(model, 140, 5)[2].clone();
    press(&mut model, KeyCode::Char('r'));
    assert!(head(&model).contains("goodput^"));
    model.sort = SortKey::Name;
    assert!(head(&model).contains("flowv"), "{}", head(&model));
}
