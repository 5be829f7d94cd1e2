//! NFQUEUE against the kernel: packets are put into one TUN device, forwarded through the queue and read out of another.

use crate::common::{Net, PATIENCE, root, text, texts, udp};
use meshpace_linux::{NfQueue, Options, PacketId, Poller, Received, Tun, interface};
use meshpace_units::Span;
use std::io;
use std::net::IpAddr;

/// How often a state of the kernel is looked at that tells nobody of its change.
const LOOK: Span = Span::from_millis(2);

/// A packet across the namespace.
fn packet(family: u8, text: &str) -> Vec<u8> {
    let (from, to): (IpAddr, IpAddr) = match family {
        4 => (IpAddr::from([10, 77, 1, 9]), IpAddr::from([10, 77, 2, 9])),
        _ => (IpAddr::from([0xfd77, 1, 0, 0, 0, 0, 0, 9]), IpAddr::from([0xfd77, 2, 0, 0, 0, 0, 0, 9])),
    };
    udp(from, to, 1000, 2000, text.as_bytes())
}

fn send(tun: &Tun, family: u8, texts: &[&str]) {
    for text in texts {
        tun.send(&packet(family, text)).expect("write");
    }
}

/// Receives until `count` packets came: their ids, by text.
fn receive(queue: &mut NfQueue, count: usize) -> (Vec<(PacketId, String)>, Received) {
    let mut poller = Poller::new().expect("epoll");
    poller.add(queue, 0).expect("epoll_ctl");
    let (mut packets, mut total) = (Vec::new(), Received::default());
    while packets.len() < count {
        assert!(
            poller.wait(Some(PATIENCE)).expect("epoll_wait").count() > 0,
            "only {packets:?} came of {count}"
        );
        let received = queue.receive(|packet, _| packets.push((packet.id, text(packet.payload).to_string())));
        let received = received.expect("recvmmsg");
        total.missed += received.missed;
        total.refused += received.refused;
        total.malformed += received.malformed;
    }
    (packets, total)
}

/// Waits until queue 5 is nobody's. A child that another test starts has copies of this process's sockets from fork to exec,
/// and for as long a queue that was dropped here is still bound.
fn released(net: &Net) {
    let queues = || std::fs::read_to_string("/proc/thread-self/net/netfilter/nfnetlink_queue");
    let bound = || net.within(queues).lines().any(|line| line.split_whitespace().next() == Some("5"));
    let mut poller = Poller::new().expect("epoll");
    for _ in 0..PATIENCE.as_nanos() / LOOK.as_nanos() {
        if !bound() {
            return;
        }
        assert_eq!(poller.wait(Some(LOOK)).expect("epoll_wait").count(), 0);
    }
    panic!("queue 5 is still bound");
}

fn each_family(test: impl Fn(&Net, &Tun, &Tun, u8)) {
    if !root() {
        return;
    }
    for (family, table) in [(4, "ip"), (6, "ip6")] {
        let net = Net::new();
        let (near, far) = (net.tun(1), net.tun(2));
        net.queue_forwarded(5, table);
        test(&net, &near, &far, family);
    }
}

#[test]
fn packets_are_held_reordered_rewritten_marked_and_dropped() {
    each_family(|net, near, far, family| {
        net.drop_marked(7);
        let mut queue = net.within(|| NfQueue::open(5, &Options::default()));
        assert!(
            queue.socket_buffer().expect("getsockopt") >= 8 << 20,
            "root gets the buffer that it asks for"
        );
        send(near, family, &["a", "b", "c", "d", "e", "f"]);
        let (held, received) = receive(&mut queue, 6);
        assert_eq!((received.missed, received.refused, received.malformed), (0, 0, 0));
        let found: Vec<&str> = held.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(found, ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(texts(far), [""; 0], "nothing leaves without a verdict");
        assert_eq!(queue.statistics().expect("proc").waiting, 6);

        let id = |index: usize| held[index].0;
        let longer = packet(family, "b, and more than was queued");
        let verdicts = queue.verdicts();
        verdicts.accept(id(2));
        verdicts.accept(id(0));
        verdicts.accept_with(id(1), &longer);
        verdicts.drop(id(3));
        verdicts.drop(id(4));
        verdicts.accept(id(5));
        assert_eq!(texts(far), [""; 0], "no verdict leaves before it is flushed");
        queue.flush().expect("send");
        assert_eq!(texts(far), ["c", "a", "b, and more than was queued", "f"]);
        let statistics = queue.statistics().expect("proc");
        assert_eq!((statistics.waiting, statistics.queue_dropped, statistics.socket_dropped), (0, 0, 0));
        assert_eq!(statistics.last_id, 6);

        // A second verdict on the same packet is refused, and says so.
        queue.verdicts().accept(id(0));
        queue.flush().expect("send");
        assert_eq!(queue.receive(|_, _| panic!("no packet came")).expect("recvmmsg").refused, 1);
    });
}

#[test]
fn a_packet_comes_with_its_interfaces_and_as_much_as_is_asked_for() {
    each_family(|net, near, far, family| {
        let options = Options { copy_range: Some(30), ..Options::default() };
        let mut queue = net.within(|| NfQueue::open(5, &options));
        let whole = packet(family, "a text");
        near.send(&whole).expect("write");
        let [indev, outdev] = [near, far].map(|tun| net.within(|| interface::index(tun.name())));
        let mut poller = Poller::new().expect("epoll");
        poller.add(&queue, 0).expect("epoll_ctl");
        assert_eq!(poller.wait(Some(PATIENCE)).expect("epoll_wait").count(), 1);
        let received = queue.receive(|packet, verdicts| {
            assert_eq!((packet.indev, packet.outdev), (Some(indev), Some(outdev)));
            assert_eq!(packet.length as usize, whole.len());
            assert_eq!(packet.payload.len(), 30);
            verdicts.accept(packet.id);
        });
        assert_eq!(received.expect("recvmmsg"), Received { packets: 1, ..Received::default() });
        queue.flush().expect("send");
        assert_eq!(texts(far), ["a text"]);
    });
}

#[test]
fn a_full_queue_fails_open_or_drops() {
    each_family(|net, near, far, family| {
        for (fail_open, passed, dropped) in [(true, &["c", "d", "e"][..], 0), (false, &[], 3)] {
            let options = Options { length: 2, fail_open, ..Options::default() };
            let mut queue = net.within(|| NfQueue::open(5, &options));
            send(near, family, &["a", "b", "c", "d", "e"]);
            assert_eq!(texts(far), passed, "fail-open {fail_open}");
            let (held, _) = receive(&mut queue, 2);
            let statistics = queue.statistics().expect("proc");
            assert_eq!((statistics.waiting, statistics.queue_dropped), (2, dropped));
            held.iter().for_each(|(id, _)| queue.verdicts().accept(*id));
            queue.flush().expect("send");
            assert_eq!(texts(far), ["a", "b"]);
            drop(queue);
            released(net);
        }
    });
}

#[test]
fn a_full_socket_buffer_fails_open_and_is_told_by_the_next_packet() {
    each_family(|net, near, far, family| {
        let options = Options { socket_buffer: 4096, ..Options::default() };
        let mut queue = net.within(|| NfQueue::open(5, &options));
        send(near, family, &["x"; 40]);
        let passed = texts(far).len();
        assert!((1..40).contains(&passed), "{passed} passed a buffer of 4 kB");
        let (held, received) = receive(&mut queue, 40 - passed);
        assert_eq!(received.missed, 0, "nothing came after those that were missed");
        send(near, family, &["last"]);
        let (last, received) = receive(&mut queue, 1);
        assert_eq!(received.missed as usize, passed);
        held.iter().chain(&last).for_each(|(id, _)| queue.verdicts().accept(*id));
        queue.flush().expect("send");
        assert_eq!(texts(far).len(), held.len() + 1);
    });
}

#[test]
fn a_queue_belongs_to_one_process_and_what_it_holds_goes_with_it() {
    each_family(|net, near, far, family| {
        let queue = net.within(|| NfQueue::open(5, &Options::default()));
        let second = net.namespace.within(|| NfQueue::open(5, &Options::default()));
        let error = second.expect_err("the number is taken");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert!(error.to_string().contains("NFQUEUE 5: binding it"), "{error}");
        send(near, family, &["held"]);
        drop(queue);
        released(net);
        assert_eq!(texts(far), [""; 0], "what had no verdict is dropped");
        send(near, family, &["bypasses"]);
        assert_eq!(texts(far), ["bypasses"]);
    });
}
