"use strict";

/** Draws a film at a moment: above the mesh with what is on the air, below a lane for each node over time. */
class FilmDrawing extends MeshDrawing {
  static laneWindow = 14e6; // ns that the lanes show on a wide screen
  static afterglow = 0.6e6; // ns for which a loss stays in sight

  constructor(canvas, film) {
    super(canvas, film);
    this.film = film;
    this.resize();
  }

  /** Fits the drawing into its place; colours are read anew. */
  resize() {
    this.width = this.canvas.clientWidth;
    this.label = null;
    this.above = this.place({ left: 0, right: this.width, top: 0, tallest: 220 });
    this.lane = this.film.nodes.length > 14 ? 13 : 17;
    this.height = this.above + this.film.nodes.length * this.lane + 26;
    this.stretch();
  }

  draw(now) {
    this.context.clearRect(0, 0, this.width, this.height);
    this.drawMesh(now);
    this.drawLanes(now);
  }

  drawMesh(now) {
    const { context, film } = this;
    const onAir = film.between(now, now).filter((frame) => frame.end > now);
    context.save();
    context.beginPath();
    context.rect(0, 0, this.width, this.above);
    context.clip();
    for (const frame of onAir) this.drawRange(frame);
    this.drawNodes(new Set(onAir.map((frame) => frame.from)));
    for (const frame of onAir) this.drawFlight(frame, (now - frame.start) / (frame.end - frame.start));
    for (const frame of film.between(now - FilmDrawing.afterglow, now)) {
      if (frame.end <= now) this.drawLosses(frame, 1 - (now - frame.end) / FilmDrawing.afterglow);
    }
    context.restore();
  }

  drawLanes(now) {
    const { context, film } = this;
    const top = this.above + 8;
    const span = FilmDrawing.laneWindow * Math.min(1, this.width / 700);
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    const label = (this.label ??= this.roomForNames());
    const perNs = (this.width - label) / span;
    const begin = now - 0.7 * span;
    const x = (time) => label + (time - begin) * perNs;
    const y = (node) => top + (node + 0.5) * this.lane;
    film.nodes.forEach((node, index) => {
      context.fillStyle = this.colour("--rule");
      context.fillRect(label, y(index) - 0.5, this.width - label, 1);
      context.fillStyle = this.colour("--soft");
      context.fillText(node.id, label - 6, y(index) + 4, label - 6);
    });
    context.save();
    context.beginPath();
    context.rect(label, this.above, this.width - label, this.height - this.above);
    context.clip();
    for (const frame of film.between(begin, begin + span)) {
      const kind = frameKinds[frame.kind];
      const width = (frame.end - frame.start) * perNs;
      context.fillStyle = this.colour(kind.colour);
      context.globalAlpha = frame.start > now ? 0.18 : 0.4;
      context.fillRect(x(frame.start), y(frame.from) - 6, width, 12);
      if (frame.channel) this.underline(frame.channel, x(frame.start), x(frame.end), y(frame.from) + 7);
      context.globalAlpha = frame.start > now ? 0.4 : 1;
      this.shape(kind, x(frame.start) + width / 2, y(frame.from), 4.5, 0);
      for (const loss of frame.losses) {
        if (frame.end <= now) this.shape(lossKinds[loss.cause], x(frame.end), y(loss.node), 5, 0);
      }
      context.globalAlpha = 1;
    }
    context.fillStyle = this.colour("--ink");
    context.fillRect(x(now) - 0.75, this.above + 2, 1.5, this.height - this.above - 22);
    this.drawTicks(begin, span, x);
    context.restore();
  }

  /** The channel's line below a frame in its lane. */
  underline(channel, from, to, y) {
    const { context } = this;
    context.strokeStyle = this.colour(channel.colour);
    context.lineWidth = 3;
    context.globalAlpha *= 2;
    context.setLineDash(channel.dash);
    context.beginPath();
    context.moveTo(from, y);
    context.lineTo(to, y);
    context.stroke();
    context.setLineDash([]);
  }

  /** What the names before the lanes take, a third of the width at most: longer ones are set narrower. */
  roomForNames() {
    const widest = Math.max(...this.film.nodes.map((node) => this.context.measureText(node.id).width));
    return Math.min(Math.max(34, Math.ceil(widest) + 8), this.width / 3);
  }

  /** A scale of milliseconds below the lanes. */
  drawTicks(begin, span, x) {
    const { context } = this;
    context.fillStyle = this.colour("--soft");
    context.textAlign = "center";
    const step = span > 8e6 ? 2e6 : 1e6;
    for (let time = Math.max(0, Math.ceil(begin / step) * step); time <= begin + span; time += step) {
      context.fillText(`${time / 1e6} ms`, x(time), this.height - 6);
    }
  }
}
