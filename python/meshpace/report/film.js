"use strict";

/** What a film shows of each kind of frame: a name, a colour of the style sheet, a shape. */
const frameKinds = {
  rts: { name: "RTS", colour: "--rts", shape: "triangle" },
  cts: { name: "CTS", colour: "--cts", shape: "diamond" },
  data: { name: "DATA", colour: "--data", shape: "bar" },
  "tcp-ack": { name: "DATA with a TCP ACK", colour: "--tcp-ack", shape: "frame" },
  ack: { name: "ACK", colour: "--ack", shape: "circle" },
  "block-ack": { name: "block ACK", colour: "--ack", shape: "frame" },
  "block-ack-request": { name: "request for a block ACK", colour: "--rts", shape: "diamond" },
  routing: { name: "routing", colour: "--routing", shape: "ring" },
  arp: { name: "address resolution", colour: "--routing", shape: "diamond" },
};
const lossKinds = {
  collision: { name: "lost to an overlapping frame", colour: "--bad", shape: "cross" },
  noise: { name: "lost to noise", colour: "--bad", shape: "slash" },
  deaf: { name: "missed: the receiver was sending", colour: "--bad", shape: "barred" },
};

/** What tells a channel apart from others: its name, a colour of the style sheet, dashes. */
function channelLook({ number, mhz }, index) {
  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];
  const name = number === null ? `${mhz} MHz` : `channel ${number}`;
  return { name, colour: `--s${index % 6}`, dash: dashes[index % dashes.length], shape: "line" };
}

/** A stretch of a run: frames and losses in the order of time. Times in ns after the film's beginning. */
class Film {
  constructor({ title, begin_s, length_ns, nodes, channels = [], frames, losses, ranges_m, ends }) {
    this.title = title;
    this.begin = begin_s * 1e9;
    this.length = length_ns;
    this.nodes = nodes;
    /** Where the mesh has several: a name and a look each. */
    this.channels = channels.map(channelLook);
    this.ranges = ranges_m;
    this.frames = frames.start_ns.map((start, i) => ({
      start,
      end: start + frames.airtime_ns[i],
      from: frames.from[i],
      to: frames.to[i],
      kind: frames.kind[i],
      retry: frames.retry[i] === 1,
      flow: frames.flow[i],
      channel: frames.channel ? this.channels[frames.channel[i]] : undefined,
      losses: [],
    }));
    losses.frame.forEach((index, i) => {
      this.frames[index].losses.push({ node: losses.node[i], cause: losses.cause[i] });
    });
    this.lost = this.frames.filter((frame) => frame.losses.length > 0);
    this.longest = Math.max(0, ...frames.airtime_ns);
    // A segment is through the mesh once the node where its flow leaves it has read it.
    const through = (frame) =>
      frame.kind === "data" && frame.to === ends[frame.flow] && frame.losses.length === 0;
    this.lossTimes = this.lost.map((frame) => frame.end).sort((a, b) => a - b);
    this.throughTimes = this.frames.filter(through).map((frame) => frame.end).sort((a, b) => a - b);
    // What a step shows: each frame halfway, each loss as it is known.
    this.moments = [
      ...this.frames.map((frame) => ({ at: (frame.start + frame.end) / 2, text: this.tell(frame) })),
      ...this.lost.map((frame) => ({ at: frame.end, text: this.tellLoss(frame) })),
    ].sort((a, b) => a.at - b.at);
  }

  /** The index of the first frame that starts at `time` or later. */
  after(time) {
    let [low, high] = [0, this.frames.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].start < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Frames that are on the air at some time between `from` and `until`. */
  between(from, until) {
    const found = [];
    for (let i = this.after(from - this.longest); i < this.frames.length && this.frames[i].start <= until; i++) {
      if (this.frames[i].end >= from) found.push(this.frames[i]);
    }
    return found;
  }

  /** How many of the sorted `times` have come. */
  static count(times, now) {
    const next = times.findIndex((time) => time > now);
    return next < 0 ? times.length : next;
  }

  tell(frame) {
    const to = frame.to === null ? "everybody" : this.nodes[frame.to].id;
    const again = frame.retry ? ", again" : "";
    const on = frame.channel ? ` on ${frame.channel.name}` : "";
    return `${this.nodes[frame.from].id} → ${to}: ${frameKinds[frame.kind].name}${again}${on}`;
  }

  tellLoss(frame) {
    const losses = frame.losses.map((loss) => `${lossKinds[loss.cause].name} at ${this.nodes[loss.node].id}`);
    return `${this.tell(frame)}: ${losses.join(", ")}`;
  }
}
