use super::super::client::{Client, SocketArgs};
use super::super::connection::REQUEST_MAX;
use super::super::protocol::Request;
use super::super::sort::SortKey;
use super::*;
use crate::control::tests::example::{self, Running};
use crate::events::Log;
use meshpace_linux::effective_user;
use meshpace_units::Bytes;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;

fn served() -> (Running, Server, Control) {
    let running = Running::start(vec![example::report(1, 900), example::report(2, 100)]);
    let control = Control { socket: running.directory().join("run/control.sock"), group: None };
    let server = Server::start(&control, running.daemon()).unwrap();
    (running, server, control)
}

fn ask(control: &Control, request: &Request) -> Result<Reply, Failure> {
    let socket = SocketArgs { socket: control.socket.clone() };
    Ok(Client::ask_once(&socket, request)?.answer)
}

/// Sends bytes as they are; the answer as JSON.
fn raw(control: &Control, bytes: &[u8]) -> serde_json::Value {
    let mut stream = UnixStream::connect(&control.socket).unwrap();
    // A server that has heard enough hangs up in the middle of them.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"))
}

#[test]
fn every_command_is_answered() {
    let (running, server, control) = served();
    let Reply::Status(status) = ask(&control, &Request::Status {}).unwrap() else { panic!("no status") };
    assert_eq!((status.flows.known, status.fairness.active), (2, 2));
    let flows =
        Request::Flows { filter: Some("10.1.2.2".into()), sort: SortKey::Name, reverse: false, limit: None };
    let Reply::Flows(flows) = ask(&control, &flows).unwrap() else { panic!("no flows") };
    assert_eq!((flows.known, flows.matching, flows.list.len()), (2, 1, 1));
    let Reply::Flow(detail) = ask(&control, &Request::Flow { flow: "10.1.2.1".into() }).unwrap() else {
        panic!("no flow")
    };
    assert_eq!(detail.flow.flow, "10.1.2.1:5001-192.0.2.1:443");
    let mode = Request::Mode {
        mode: "observe".into(),
        subnet: Some("10.1.2.0/24".parse().unwrap()),
        anyway: false,
        unguarded: false,
    };
    assert_eq!(
        ask(&control, &mode).unwrap(),
        Reply::Done("10.1.2.0/24: observe, until the next reload".into())
    );
    let host = "10.1.2.1".parse().unwrap();
    assert_eq!(running.daemon().config().policy(host).mode, crate::config::Mode::Observe);
    assert_eq!(ask(&control, &Request::Reload {}).unwrap(), Reply::Done("in force".into()));
    assert_eq!(running.daemon().config().policy(host).mode, crate::config::Mode::Pace, "the file's again");
    assert!(matches!(ask(&control, &Request::Stop {}).unwrap(), Reply::Done(_)));
    running.end_data_thread();
    let failure = ask(&control, &Request::Status {}).unwrap_err();
    assert!(
        matches!(&failure, Failure::Operational(text) if text.contains("the data thread has ended")),
        "{failure}"
    );
    server.stop();
}

#[test]
fn what_a_user_can_mend_is_told_as_that() {
    let (running, server, control) = served();
    for (request, part) in [
        (Request::Flow { flow: "10.9".into() }, "no flow fits \"10.9\""),
        (Request::Flow { flow: "10.1.2.".into() }, "fits 2 flows"),
        (
            Request::Flows { filter: Some("x".into()), sort: SortKey::Name, reverse: false, limit: None },
            "\"x\" is no filter",
        ),
        (
            Request::Mode { mode: "fast".into(), subnet: None, anyway: false, unguarded: false },
            "\"fast\" is no mode",
        ),
    ] {
        let failure = ask(&control, &request).unwrap_err();
        assert!(matches!(&failure, Failure::User(text) if text.contains(part)), "{failure}");
    }
    fs::write(running.directory().join("meshpaced.toml"), "mode = \"fast\"\n").unwrap();
    let failure = ask(&control, &Request::Reload {}).unwrap_err();
    assert!(matches!(&failure, Failure::User(text) if text.contains("meshpaced.toml:1: mode")), "{failure}");
    server.stop();
}

#[test]
fn hostile_lines_get_an_error_and_the_server_lives_on() {
    let (_running, server, control) = served();
    let long = vec![b'x'; 10 * REQUEST_MAX];
    let deep = format!("{}\n", "[".repeat(REQUEST_MAX - 1));
    let cases: [&[u8]; 9] = [
        b"\n",
        b"hello\n",
        b"\xff\xfe\0\n",
        b"{\"command\": \"format\"}\n",
        b"{\"command\": \"status\", \"more\": 1}\n",
        b"{\"command\": \"flows\", \"limit\": -1}\n",
        b"{\"command\": \"status\"}", // no line feed
        deep.as_bytes(),
        &long,
    ];
    for bytes in cases {
        let answer = raw(&control, bytes);
        assert_eq!(answer["schema"], 1);
        assert_eq!(answer["error"]["mendable"], true, "{answer}");
    }
    assert!(ask(&control, &Request::Status {}).is_ok());
    server.stop();
}

#[test]
fn clients_beyond_the_bound_are_told_so() {
    let (_running, server, control) = served();
    let held: Vec<_> = (0..CLIENTS_MAX).map(|_| UnixStream::connect(&control.socket).unwrap()).collect();
    let failure = ask(&control, &Request::Status {}).unwrap_err();
    assert!(failure.to_string().contains("32 clients are being served already"), "{failure}");
    drop(held);
    let deadline = meshpace_linux::monotonic_now() + example::PATIENCE;
    while ask(&control, &Request::Status {}).is_err() {
        assert!(meshpace_linux::monotonic_now() < deadline, "places are given back");
    }
    server.stop();
}

#[test]
fn only_the_owner_may_connect_and_a_group_if_configured() {
    let (running, server, control) = served();
    assert_eq!(fs::metadata(&control.socket).unwrap().mode() & 0o777, 0o600);
    server.stop();
    assert!(!control.socket.exists(), "removed at the end");
    let group = fs::metadata(running.directory()).unwrap().gid();
    let control = Control { group: Some(group.to_string()), ..control };
    let server = Server::start(&control, running.daemon()).unwrap();
    assert_eq!(fs::metadata(&control.socket).unwrap().mode() & 0o777, 0o660);
    server.stop();
    let control = Control { group: Some("no such group".into()), ..control };
    let failure = Server::start(&control, running.daemon()).unwrap_err();
    assert!(failure.to_string().contains("no group \"no such group\""), "{failure}");
    assert_eq!(fs::read_dir(control.socket.parent().unwrap()).unwrap().count(), 0, "nothing is left behind");
}

/// Every user that the socket lets in may look. Root and the daemon's user may change something, and the event names the user that did.
#[test]
fn who_may_look_and_who_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let log = crate::config::Events { file: Some(file.clone()), max_size: Bytes(1 << 20), keep: 0 };
    let log = Log::open(&log).unwrap();
    let running = Running::telling(vec![example::report(1, 900)], log.sink());
    let daemon = running.daemon();
    let looker = Peer { uid: effective_user() + 4_711, pid: 77 };
    let owner = Peer { uid: effective_user(), pid: 78 };
    let root = Peer { uid: 0, pid: 79 };
    let flows = Request::Flows { filter: None, sort: SortKey::Name, reverse: false, limit: None };
    for look in [Request::Status {}, flows, Request::Flow { flow: "10.1.2.1".into() }] {
        assert!(!matches!(daemon.answer(look.clone(), looker), Reply::Error(_)), "{look:?}");
    }
    let mode = Request::Mode { mode: "observe".into(), subnet: None, anyway: false, unguarded: false };
    for change in [mode.clone(), Request::Reload {}, Request::Stop {}] {
        let Reply::Error(refusal) = daemon.answer(change.clone(), looker) else { panic!("{change:?}") };
        assert!(!refusal.mendable && refusal.message.contains("uid 4711 may look") == (owner.uid == 0));
        assert!(refusal.message.contains("only root and the daemon's user"), "{}", refusal.message);
    }
    assert_eq!(daemon.config().mode, crate::config::Mode::Pace, "nothing has changed");
    for (peer, change) in [(owner, mode), (root, Request::Reload {}), (root, Request::Stop {})] {
        assert!(matches!(daemon.answer(change.clone(), peer), Reply::Done(_)), "{change:?}");
    }
    log.close();
    let text = fs::read_to_string(file).unwrap();
    let told: Vec<(String, u64)> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| (event["event"].as_str().unwrap().to_owned(), event["pid"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("change_denied", 77),
        ("change_denied", 77),
        ("change_denied", 77),
        ("mode_changed", 78),
        ("reloaded", 79),
        ("stopped", 79),
    ];
    assert_eq!(told, expected.map(|(event, pid)| (event.to_owned(), pid)), "{text}");
}

#[test]
fn those_who_may_only_look_leave_places_for_others() {
    let clients = Arc::new(AtomicUsize::new(0));
    let lookers: Vec<_> = (0..CLIENTS_MAX).map_while(|_| ClientSlot::take(&clients, LOOKERS_MAX)).collect();
    assert_eq!(lookers.len(), LOOKERS_MAX);
    let others: Vec<_> = (0..CLIENTS_MAX).map_while(|_| ClientSlot::take(&clients, CLIENTS_MAX)).collect();
    assert_eq!(others.len(), CLIENTS_MAX - LOOKERS_MAX);
    drop((lookers, others));
    assert_eq!(clients.load(Ordering::Acquire), 0);
}

#[test]
fn a_dead_daemons_socket_is_replaced_and_a_live_ones_is_not() {
    let (running, server, control) = served();
    let failure = Server::start(&control, running.daemon()).unwrap_err();
    assert!(failure.to_string().contains("another meshpaced answers here"), "{failure}");
    server.stop();
    drop(UnixListener::bind(&control.socket).unwrap()); // what a killed daemon leaves
    let failure = ask(&control, &Request::Status {}).unwrap_err();
    assert!(failure.to_string().contains("is it running?"), "{failure}");
    let server = Server::start(&control, running.daemon()).unwrap();
    assert!(ask(&control, &Request::Status {}).is_ok());
    server.stop();
    fs::write(&control.socket, "precious").unwrap();
    let failure = Server::start(&control, running.daemon()).unwrap_err();
    assert!(failure.to_string().contains("is in the way and is no socket"), "{failure}");
    assert_eq!(fs::read_to_string(&control.socket).unwrap(), "precious");
}

#[test]
fn a_socket_that_is_not_there_asks_whether_the_daemon_runs() {
    let control = Control { socket: "/nonexistent/control.sock".into(), group: None };
    let failure = ask(&control, &Request::Status {}).unwrap_err();
    assert!(
        failure.to_string().starts_with("no daemon at /nonexistent/control.sock: is it running?"),
        "{failure}"
    );
}
