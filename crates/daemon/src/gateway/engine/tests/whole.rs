use super::*;

const SIZE: u32 = 1_460;

impl World {
    /// Hands a packet in of which only the headers are copied.
    fn hand_in_headers(&mut self, now: Instant, bytes: &[u8], unfinished: bool) -> Out {
        self.next += 1;
        let mut bytes = bytes[..40].to_vec();
        let arrival =
            Arrival { id: self.next, from_mesh: false, to_mesh: false, unfinished, bytes: &mut bytes };
        match self.engine.handle(now, arrival) {
            Decision::Accept => Out::Accept,
            Decision::Hold => Out::Hold,
            other => panic!("{other:?} of a packet that can only go on"),
        }
    }
}

#[test]
fn what_the_kernel_will_cut_is_seen_as_it_will_be_on_the_wire() {
    let observed = |whole: bool| {
        let mut w = World::new(&PACE.replace("\"pace\"", "\"observe\""));
        let all = if whole { vec![(1, 20 * SIZE)] } else { (0..20).map(|i| (1 + i * SIZE, SIZE)).collect() };
        for (seq, payload) in all {
            let data = w.down(seq, payload);
            assert_eq!(w.hand_in_headers(ms(0), &data, whole), Out::Accept);
        }
        for i in 1..=10 {
            let ack = w.up(1, 1 + 2 * i * SIZE, 0);
            assert_eq!(w.hand_in(ms(20 + u64::from(i)), &ack), Out::Accept);
        }
        let flow = w.engine.flows().remove(0);
        assert_eq!((flow.segment, flow.down.packets), (Bytes(u64::from(SIZE)), 20));
        let stats = flow.stats;
        ((stats.samples, stats.interval, stats.wireless_rtt, stats.variation), flow.down, *w.engine.counted())
    };
    assert_eq!(observed(true), observed(false));
}

#[test]
fn it_goes_behind_what_its_flow_holds_and_at_once() {
    let mut w = World::new(PACE);
    w.sampled();
    let (first, second, third) = (w.down(1001, MSS), w.down(2001, MSS), w.down(3001, 20 * SIZE));
    assert_eq!(w.hand_in(ms(40), &first), Out::Accept);
    assert_eq!(w.hand_in(ms(41), &second), Out::Hold);
    assert_eq!(w.hand_in_headers(ms(42), &third, true), Out::Hold, "not before the second");
    let left = w.outputs(ms(42));
    let ids = left.iter().map(|output| match output {
        Output::Release { id, bytes: None, .. } => *id,
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), [4, 5]);
    assert_eq!(w.engine.held(), 0);
}
