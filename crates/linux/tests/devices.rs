//! TUN devices, raw packets, namespaces and timers against the kernel.

use crate::common::{Net, PATIENCE, checksum, expect_udp, root, text, texts, udp};
use meshpace_linux::{
    Deadline, EchoSockets, Namespace, Poller, RawSender, Tun, TunOptions, interface, monotonic_now, realtime,
};
use meshpace_units::Span;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};

const FAMILIES: [([u16; 8], bool); 2] =
    [([0, 0, 0, 0, 0, 0xffff, 0x0a4d, 0x0109], true), ([0xfd77, 1, 0, 0, 0, 0, 0, 9], false)];

/// The address behind device 1 and a foreign one, of each family.
fn addresses() -> [(IpAddr, IpAddr); 2] {
    FAMILIES.map(|(behind, v4)| {
        let behind = std::net::Ipv6Addr::from(behind).to_canonical();
        (
            behind,
            if v4 { IpAddr::from([192, 0, 2, 7]) } else { IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 7]) },
        )
    })
}

#[test]
fn a_socket_talks_to_user_space_through_a_tun() {
    if !root() {
        return;
    }
    let net = Net::new();
    let tun = net.tun(1);
    assert_eq!(tun.name(), "mp1");
    assert_eq!(net.within(|| interface::mtu("mp1")), 1500);
    for (behind, _) in addresses() {
        let any = if behind.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = net.within(|| UdpSocket::bind(any));
        socket.connect((behind, 4242)).expect("the prefix is routed");
        socket.send(b"ping").expect("sent");
        let packet = expect_udp(&tun);
        assert_eq!(text(&packet), "ping");
        let SocketAddr::V4(_) = socket.local_addr().expect("bound") else {
            assert_eq!(packet[0] >> 4, 6);
            answer(&tun, &socket, behind);
            continue;
        };
        assert_eq!(checksum(&[&packet[..20]]), 0, "a complete header checksum");
        let length = (packet.len() - 20) as u16;
        let pseudo = [&packet[12..20], &[0, 17], &length.to_be_bytes()].concat();
        assert_eq!(checksum(&[&pseudo, &packet[20..]]), 0, "a complete UDP checksum: nothing is offloaded");
        answer(&tun, &socket, behind);
    }
}

/// The kernel answers for its own addresses; what is no reply does not come here.
#[test]
fn an_echo_comes_back_from_whom_it_was_asked_of() {
    if !root() {
        return;
    }
    let net = Net::new();
    let (echoes, others) = net.within(|| Ok((EchoSockets::open()?, EchoSockets::open()?)));
    let mut poller = Poller::new().expect("epoll");
    poller.add(&echoes, 0).expect("epoll_ctl");
    for (to, request, reply) in [("127.0.0.1", 8, 0), ("::1", 128, 129)] {
        let to: IpAddr = to.parse().expect("an address");
        let mut message = [request, 0, 0, 0, 0x6d, 0x70, 0, 1, b'e', b'c', b'h', b'o'];
        let sum = checksum(&[&message]).to_be_bytes();
        message[2..4].copy_from_slice(&sum);
        echoes.send(to, &message).expect("sent");
        assert_eq!(poller.wait(Some(PATIENCE)).expect("epoll_wait").count(), 1, "{to} answers");
        let mut got = Vec::new();
        echoes.receive(9, |from, message| got.push((from, message.to_vec()))).expect("received");
        assert_eq!(got.len(), 1, "the request itself is filtered: {got:?}");
        assert_eq!((got[0].0, got[0].1[0], &got[0].1[4..]), (to, reply, &message[4..]));
        echoes.receive(9, |from, _| panic!("another one of {from}")).expect("nothing");
        let mut overheard = 0;
        others.receive(9, |_, _| overheard += 1).expect("received");
        assert_eq!(overheard, 1, "everybody's");
    }
    let unreachable = echoes.send(IpAddr::from([192, 0, 2, 1]), &[8; 8]).expect_err("no route");
    assert_eq!(unreachable.kind(), io::ErrorKind::NetworkUnreachable);
}

fn answer(tun: &Tun, socket: &UdpSocket, behind: IpAddr) {
    let local = socket.local_addr().expect("bound");
    tun.send(&udp(behind, local.ip(), 4242, local.port(), b"pong")).expect("write");
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("set");
    let mut buffer = [0; 16];
    let length = socket.recv(&mut buffer).expect("the answer arrives");
    assert_eq!(&buffer[..length], b"pong");
}

#[test]
fn a_tun_says_what_is_wrong_and_numbers_itself() {
    if !root() {
        return;
    }
    let net = Net::new();
    let options = TunOptions { name: "mp%d", mtu: 1400, queue_length: None, ethernet: None, addresses: &[] };
    let (first, second) = net.within(|| Ok((Tun::open(&options)?, Tun::open(&options)?)));
    assert_eq!((first.name(), second.name()), ("mp0", "mp1"));
    assert_eq!(net.within(|| interface::mtu("mp1")), 1400);
    let taken = net.namespace.within(|| Tun::open(&TunOptions { name: "mp0", ..options }));
    let error = taken.expect_err("the name is taken");
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    assert!(error.to_string().contains("TUN mp0: creating it"), "{error}");
    let tiny = net.namespace.within(|| Tun::open(&TunOptions { name: "mp9", mtu: 1, ..options }));
    assert!(tiny.expect_err("IPv4 takes 68 bytes").to_string().contains("its MTU"));
    assert_eq!(first.send(&[0x15; 60]).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_tap_carries_frames_and_its_kernel_answers_for_its_address() {
    if !root() {
        return;
    }
    let net = Net::new();
    let mac = [0x02, 0x6d, 0x70, 0, 0, 9];
    let addresses = [(IpAddr::from([10, 77, 1, 1]), 24)];
    let options =
        TunOptions { name: "mp0", mtu: 1500, queue_length: None, ethernet: Some(mac), addresses: &addresses };
    let tap = net.within(|| Tun::open(&options));
    let asker = [0x02, 0x6d, 0x70, 0, 0, 8];
    // Who has 10.77.1.1? Tell 10.77.1.2 (RFC 826).
    let question = [
        &[0xff; 6][..],
        &asker,
        &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
        &asker,
        &[10, 77, 1, 2],
        &[0; 6],
        &[10, 77, 1, 1],
    ];
    tap.send(&question.concat()).expect("sent");
    let answer =
        [&asker[..], &mac, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &mac, &[10, 77, 1, 1], &asker, &[10, 77, 1, 2]];
    assert_eq!(expect_frame(&tap, 0x0806), answer.concat());
    assert_eq!(tap.send(&[0xff; 13]).expect_err("no header").kind(), io::ErrorKind::InvalidInput);
}

/// The next frame of a type that a kernel sends through a device. It says other things of its own accord, too: multicast listener reports.
fn expect_frame(tap: &Tun, ether_type: u16) -> Vec<u8> {
    let mut poller = Poller::new().expect("epoll");
    poller.add(tap, 0).expect("epoll_ctl");
    let mut buffer = vec![0; 2048];
    loop {
        while let Some(length) = tap.receive(&mut buffer).expect("it can be read") {
            if buffer[12..14] == ether_type.to_be_bytes() {
                return buffer[..length].to_vec();
            }
        }
        let waited = poller.wait(Some(PATIENCE)).expect("epoll_wait").count();
        assert!(waited > 0, "no frame of type {ether_type:#06x}");
    }
}

#[test]
fn a_raw_packet_leaves_as_it_is_unless_a_rule_knows_its_mark() {
    if !root() {
        return;
    }
    let net = Net::new();
    let tun = net.tun(1);
    net.drop_marked(7);
    let [plain, other, dropped] = [None, Some(8), Some(7)].map(|mark| net.within(|| RawSender::open(mark)));
    for (behind, foreign) in addresses() {
        let packet = udp(foreign, behind, 1, 2, b"raw");
        plain.send(&packet).expect("sent");
        assert_eq!(expect_udp(&tun), packet);
        other.send(&packet).expect("sent");
        assert_eq!(expect_udp(&tun), packet);
        // The drop in the hook is an error for the sender in some kernels and none in others; nothing arrives in any.
        let _ = dropped.send(&packet);
        assert_eq!(texts(&tun), [""; 0]);
        let long = udp(foreign, behind, 1, 2, &[b'x'; 1500]);
        assert_eq!(plain.send(&long).expect_err("over the MTU").raw_os_error(), Some(libc_emsgsize()));
        let nowhere = udp(foreign, foreign, 1, 2, b"raw");
        assert_eq!(plain.send(&nowhere).expect_err("no route").kind(), io::ErrorKind::NetworkUnreachable);
    }
    for wrong in [&[][..], &[0x45; 19], &[0x60; 39], &[0x15; 60]] {
        assert_eq!(plain.send(wrong).expect_err("no packet").kind(), io::ErrorKind::InvalidInput);
    }
}

/// EMSGSIZE, asm-generic/errno.h.
fn libc_emsgsize() -> i32 {
    90
}

#[test]
fn a_thread_comes_back_from_another_namespace_even_when_it_panics() {
    if !root() {
        return;
    }
    let here = || std::fs::read_link("/proc/thread-self/ns/net");
    let net = Net::new();
    let home = here().expect("proc");
    let there = net.within(here);
    assert_ne!(home, there);
    assert_eq!(here().expect("proc"), home);
    assert_eq!(net.within(|| Namespace::current()?.within(here)), there);
    let panicked =
        catch_unwind(AssertUnwindSafe(|| net.within(|| -> io::Result<()> { panic!("on purpose") })));
    assert!(panicked.is_err());
    assert_eq!(here().expect("proc"), home);
}

/// Prints how late timers are; what they are on a given machine is no property of this code.
#[test]
fn lateness_of_timers_with_what_the_kernel_grants() {
    println!("{}", realtime());
    let mut poller = Poller::new().expect("epoll");
    let mut deadline = Deadline::new().expect("timerfd");
    poller.add(&deadline, 0).expect("epoll_ctl");
    let mut late: Vec<u64> = (0..1000)
        .map(|_| {
            let due = monotonic_now() + Span::from_millis(1);
            deadline.set(Some(due)).expect("timerfd_settime");
            assert_eq!(poller.wait(None).expect("epoll_wait").count(), 1);
            assert!(deadline.acknowledge().expect("read"));
            (monotonic_now() - due).as_micros() // panics if it was early
        })
        .collect();
    late.sort_unstable();
    println!("1000 timers: {} / {} / {} us late (p50 / p99 / most)", late[500], late[990], late[999]);
}
