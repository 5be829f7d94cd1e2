//! The log of a station's exchanges.

use crate::{ExchangeLog, Report};
use meshpace_radio::{Burst, Frame, FrameKind, Header, MacPacket, Mpdu, Priority, Standard};
use meshpace_units::{Bytes, Instant, NodeId, Span};

const SIFS: Span = Span::from_micros(10);

fn at(us: u64) -> Instant {
    Instant::ZERO + Span::from_micros(us)
}

fn packet(to: Option<u32>) -> MacPacket {
    let mode = Standard::named("802.11b").expect("a row").default_mode;
    MacPacket { handle: 7, to: to.map(NodeId), size: Bytes(1500), mode, priority: Priority::BEST_EFFORT }
}

/// The only packet.
fn in_hand() -> [Mpdu; 1] {
    [Mpdu { packet: packet(Some(1)), seq: 1, retry: false, losses: 0 }]
}

fn frame(kind: FrameKind, us: u64, protected: bool) -> Frame {
    let packet = packet(Some(1));
    let mpdu = Mpdu { packet, seq: 1, retry: false, losses: 0 };
    Frame::new(Header {
        kind,
        from: NodeId(0),
        to: packet.to,
        airtime: Span::from_micros(us),
        duration: Span::ZERO,
        mode: packet.mode,
        size: packet.size,
        data_mode: packet.mode,
        retry: false,
        protected,
        packet: (kind == FrameKind::Data).then_some(mpdu),
    })
}

/// ```text
/// 100 offered | 500 RTS (no CTS) | 1500 RTS, CTS, 2186 DATA 1308 (no ACK) | 4000 RTS, CTS, 4676 DATA, ACK
/// ```
#[test]
fn an_exchange_with_rts_is_followed_to_its_end() {
    let mut log = ExchangeLog::new(SIFS);
    let (rts, data) = (frame(FrameKind::Rts, 352, true), frame(FrameKind::Data, 1308, true));
    log.offered(at(100), &packet(Some(1)));
    // An answer to somebody else is none of the packet's business.
    assert_eq!(log.transmits(at(200), &frame(FrameKind::Cts, 304, false), &in_hand()), None);
    let Some(Report::Granted(granted)) = log.transmits(at(500), &rts, &in_hand()) else {
        panic!("the medium is won")
    };
    assert_eq!((granted.packet, granted.attempts), (7, 1));
    assert_eq!((granted.offered, granted.granted), (at(100), Some(at(500))));
    assert!(
        matches!(log.transmits(at(1500), &rts, &in_hand()), Some(Report::Retry(e)) if e.attempts == 2 && e.data_frames == 0)
    );
    assert_eq!(log.transmits(at(2186), &data, &in_hand()), None);
    assert!(
        matches!(log.transmits(at(4000), &rts, &in_hand()), Some(Report::Retry(e)) if e.data_frames == 1)
    );
    assert_eq!(log.transmits(at(4676), &data, &in_hand()), None);
    let Report::Sent(sent) = log.ended(7, true) else { panic!("it was sent") };
    assert_eq!((sent.attempts, sent.data_frames), (3, 2));
    assert_eq!(sent.airtime, Span::from_micros(3 * 352 + 2 * 1308));
    assert_eq!((sent.granted, sent.cts_ended), (Some(at(500)), Some(at(4666))));
    assert_eq!(sent.data_ended, Some(at(4676 + 1308)));
}

#[test]
fn without_rts_every_data_frame_is_an_attempt() {
    let mut log = ExchangeLog::new(SIFS);
    let data = frame(FrameKind::Data, 1308, false);
    log.offered(at(0), &packet(Some(1)));
    assert!(matches!(log.transmits(at(70), &data, &in_hand()), Some(Report::Granted(_))));
    assert!(matches!(log.transmits(at(2000), &data, &in_hand()), Some(Report::Retry(_))));
    let Report::GivenUp(lost) = log.ended(7, false) else { panic!("it was given up") };
    assert_eq!((lost.attempts, lost.data_frames, lost.cts_ended), (2, 2, None));
    // The next packet starts afresh.
    log.offered(at(5000), &packet(None));
    assert!(
        matches!(log.ended(7, true), Report::Sent(e) if e.attempts == 0 && e.next_hop.is_none() && e.offered == at(5000))
    );
}

/// Two packets in one frame: granted and retried as one, sent or given up each by itself.
///
/// ```text
/// 0 both offered | 70 DATA(1, 2) | 1 sent | 2000 DATA(2, 3) | 2 given up, 3 sent
/// ```
#[test]
fn packets_of_a_frame_are_followed_by_themselves() {
    let mut log = ExchangeLog::new(SIFS);
    let packet = |handle| MacPacket { handle, ..packet(Some(1)) };
    let frame = |handles: [u32; 2]| {
        let mut burst = Burst::EMPTY;
        for handle in handles {
            burst.push(Mpdu { packet: packet(handle), seq: 1, retry: false, losses: 0 });
        }
        Frame::data(Header { size: Bytes(3000), ..*frame(FrameKind::Data, 2000, false) }, &burst)
    };
    log.offered(at(0), &packet(1));
    log.offered(at(5), &packet(2));
    let first = frame([1, 2]);
    let Some(Report::Granted(granted)) = log.transmits(at(70), &first, first.packets()) else {
        panic!("it is granted")
    };
    assert_eq!((granted.packet, granted.packets, granted.data_size), (1, 2, Bytes(3000)));
    assert!(matches!(log.ended(1, true), Report::Sent(e) if e.packet == 1 && e.attempts == 1));
    log.offered(at(1000), &packet(3));
    // One that waits for its turn in a frame of its own is not on the air.
    log.offered(at(1000), &packet(4));
    let second = frame([2, 3]);
    let retry = log.transmits(at(2000), &second, second.packets());
    let Some(Report::Retry(retry)) = retry else { panic!("2 goes again") };
    assert_eq!((retry.packet, retry.attempts, retry.granted), (2, 2, Some(at(70))));
    assert!(matches!(log.ended(2, false), Report::GivenUp(e) if e.packet == 2 && e.attempts == 2));
    assert!(matches!(log.ended(3, true), Report::Sent(e) if e.packet == 3 && e.granted == Some(at(2000))));
    let third = frame([4, 5]);
    log.offered(at(3000), &packet(5));
    let granted = log.transmits(at(4000), &third, third.packets());
    assert!(
        matches!(granted, Some(Report::Granted(e)) if (e.packet, e.attempts, e.data_frames) == (4, 1, 1))
    );
}
