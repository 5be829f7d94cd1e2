use super::*;
use crate::events::{By, FlowOpened};
use meshpace_units::Bytes;
use std::path::Path;

fn opened(n: u32) -> Event {
    Event::FlowOpened(FlowOpened {
        flow: format!("10.0.0.1:{n}-192.0.2.1:80"),
        treatment: "observe",
        hops: Some(3),
        hop_source: "ttl",
    })
}

/// A log in a file that is put away when it has `max_size` bytes.
fn bounded(path: &Path, max_size: u64, keep: u32) -> Events {
    Events { file: Some(path.to_owned()), max_size: Bytes(max_size), keep }
}

fn open(path: &Path) -> Result<Log, Failure> {
    Log::open(&bounded(path, 1 << 20, 4))
}

/// The lines of a log that is closed.
fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("the log is there");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// Whether a log that is still being written has a whole line: its last one may be half there.
fn has_a_line(path: &Path) -> bool {
    std::fs::read(path).expect("the log is there").contains(&b'\n')
}

#[test]
fn a_line_has_schema_time_event_and_its_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.jsonl");
    let log = open(&path).unwrap();
    log.sink().emit(opened(5001));
    log.sink().emit(Event::ModeChanged {
        mode: "pace",
        subnet: Some("10.0.0.0/24".into()),
        by: By { uid: 7, pid: 4711 },
    });
    log.close();
    let lines = lines(&path);
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["schema"], &lines[0]["event"]), (&1.into(), &"flow_opened".into()));
    assert_eq!(lines[0]["flow"], "10.0.0.1:5001-192.0.2.1:80");
    assert_eq!(lines[0]["hops"], 3);
    let time = lines[0]["time"].as_str().unwrap();
    assert!(humantime::parse_rfc3339(time).is_ok() && time.ends_with('Z'), "{time}");
    assert_eq!((&lines[1]["event"], &lines[1]["subnet"]), (&"mode_changed".into(), &"10.0.0.0/24".into()));
    assert_eq!((&lines[1]["uid"], &lines[1]["pid"]), (&7.into(), &4711.into()), "who asked");
}

#[test]
fn a_flood_of_flows_is_cut_and_counted_but_other_events_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.jsonl");
    let log = open(&path).unwrap();
    let sink = log.sink();
    let begun = meshpace_linux::monotonic_now();
    const FLOOD: u32 = 3_000;
    const { assert!((FLOOD as usize) < BACKLOG, "all of them wait, however slow the writer is") };
    for n in 0..FLOOD {
        sink.emit(opened(n));
    }
    sink.emit(Event::Stopped { reason: "test", by: None });
    drop(sink);
    log.close();
    let passed = meshpace_linux::monotonic_now() - begun;
    let lines = lines(&path);
    let flows = lines.iter().filter(|line| line["event"] == "flow_opened").count() as u64;
    // What a slow machine's time adds to the burst is let through rightly.
    let allowed = FLOW_LINES_BURST + FLOW_LINES_PER_SECOND * (passed.as_nanos() / 1_000_000_000 + 1);
    assert!((FLOW_LINES_BURST..=allowed).contains(&flows), "{flows} lines of flows in {passed:?}");
    let suppressed: u64 = lines.iter().filter_map(|line| line["lines"].as_u64()).sum();
    assert_eq!(flows + suppressed, u64::from(FLOOD));
    assert_eq!(lines.iter().filter(|line| line["event"] == "stopped").count(), 1);
}

#[test]
fn after_a_rotation_lines_go_to_the_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let (path, old) = (directory.path().join("events.jsonl"), directory.path().join("events.jsonl.1"));
    let log = open(&path).unwrap();
    let sink = log.sink();
    sink.emit(opened(1));
    while !has_a_line(&path) {
        std::thread::yield_now();
    }
    std::fs::rename(&path, &old).unwrap();
    sink.reopen();
    sink.emit(opened(2));
    drop(sink);
    log.close();
    assert_eq!((lines(&old).len(), lines(&path).len()), (1, 1));
    assert_eq!(lines(&path)[0]["flow"], "10.0.0.1:2-192.0.2.1:80");
}

#[test]
fn a_log_that_cannot_be_opened_is_an_operational_failure_that_names_it() {
    let failure = open(Path::new("/nonexistent/events.jsonl")).unwrap_err();
    assert!(matches!(&failure, Failure::Operational(text) if text.contains("/nonexistent/events.jsonl")));
}

#[test]
fn without_a_log_nothing_is_kept() {
    let log = Log::open(&Events { file: None, max_size: Bytes(1), keep: 0 }).unwrap();
    log.sink().emit(opened(1));
    log.close();
}

/// Lengths of the log and of what it had before, latest first, and all names in its folder.
fn sizes(path: &Path) -> (Vec<u64>, usize) {
    let folder = path.parent().expect("a folder");
    let name = |n: u32| if n == 0 { path.to_owned() } else { folder.join(format!("events.jsonl.{n}")) };
    let sizes = (0..100).map_while(|n| Some(std::fs::metadata(name(n)).ok()?.len())).collect();
    (sizes, std::fs::read_dir(folder).expect("readable").count())
}

#[test]
fn a_file_that_gets_too_long_is_put_away_and_so_many_are_kept() {
    const LIMIT: u64 = 4_096;
    for keep in [0, 1, 3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events.jsonl");
        let log = Log::open(&bounded(&path, LIMIT, keep)).unwrap();
        for n in 0..400 {
            log.sink().emit(opened(n));
        }
        log.close();
        let (sizes, files) = sizes(&path);
        assert_eq!((sizes.len(), files), (keep as usize + 1, keep as usize + 1), "keep {keep}: {sizes:?}");
        assert!(sizes.iter().all(|size| *size <= LIMIT), "keep {keep}: {sizes:?}");
        assert!(sizes[1..].iter().all(|size| *size > LIMIT - 200), "full when put away: {sizes:?}");
        assert!(
            lines(&path).last().unwrap()["flow"].as_str().unwrap().contains(":399-"),
            "the latest is there"
        );
    }
}

#[test]
fn a_file_that_cannot_be_put_away_does_not_grow() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.jsonl");
    // A folder of that name that is not empty: no file can take its place.
    std::fs::create_dir_all(directory.path().join("events.jsonl.1/in the way")).unwrap();
    let log = Log::open(&bounded(&path, 4_096, 1)).unwrap();
    for n in 0..400 {
        log.sink().emit(opened(n));
    }
    log.close();
    let length = std::fs::metadata(&path).unwrap().len();
    assert!((3_800..=4_096).contains(&length), "{length}");
}

#[test]
fn lines_that_found_no_room_are_told_of_once_there_is_some() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.jsonl");
    let in_the_way = directory.path().join("events.jsonl.1");
    std::fs::create_dir_all(in_the_way.join("a file")).unwrap();
    let mut writer = Writer {
        target: Target::open(&bounded(&path, 4_096, 1)).unwrap().expect("a file is wanted"),
        flow_lines: Limiter::new(FLOW_LINES_PER_SECOND, FLOW_LINES_BURST),
        lost: Arc::default(),
        failing: false,
    };
    let mut told = |numbers: std::ops::Range<u32>| {
        let (messages, receiver) = std::sync::mpsc::channel();
        numbers.for_each(|n| messages.send(Message::Event(SystemTime::UNIX_EPOCH, opened(n))).unwrap());
        drop(messages);
        writer.run(&receiver);
    };
    told(0..100);
    let written = lines(&path).len() as u64;
    std::fs::remove_dir_all(&in_the_way).unwrap();
    told(100..101);
    assert_eq!(lines(&in_the_way).len() as u64, written);
    let after = lines(&path);
    assert_eq!((&after[0]["event"], &after[0]["lines"]), (&"suppressed".into(), &(100 - written).into()));
    assert_eq!((after.len(), &after[1]["event"]), (2, &"flow_opened".into()));
}
