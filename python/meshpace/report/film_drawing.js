"use strict";

/** Draws a film at a moment: above the mesh with what is on the air, below a lane for each node over time. */
class FilmDrawing {
  static laneWindow = 14e6; // ns that the lanes show on a wide screen
  static afterglow = 0.6e6; // ns for which a loss stays in sight

  constructor(canvas, film) {
    this.canvas = canvas;
    this.film = film;
    this.context = canvas.getContext("2d");
    this.resize();
  }

  /** Fits the drawing into its place; colours are read anew. */
  resize() {
    const { film, canvas } = this;
    const style = getComputedStyle(canvas);
    this.colour = (name) => style.getPropertyValue(name).trim();
    this.width = canvas.clientWidth;
    const xs = film.nodes.map((node) => node.x);
    const ys = film.nodes.map((node) => node.y);
    const span = (values) => Math.max(...values) - Math.min(...values);
    const side = 26;
    this.scale = Math.min((this.width - 2 * side) / Math.max(span(xs), 1), 220 / Math.max(span(ys), 1));
    this.mesh = Math.max(span(ys) * this.scale + 90, 120);
    const left = (this.width - span(xs) * this.scale) / 2;
    this.places = film.nodes.map((node) => ({
      x: left + (node.x - Math.min(...xs)) * this.scale,
      y: this.mesh / 2 + ((Math.max(...ys) + Math.min(...ys)) / 2 - node.y) * this.scale,
    }));
    this.lane = film.nodes.length > 14 ? 13 : 17;
    this.height = this.mesh + film.nodes.length * this.lane + 26;
    canvas.style.height = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
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
    context.rect(0, 0, this.width, this.mesh);
    context.clip();
    for (const frame of onAir) this.drawRange(frame);
    this.drawNodes(new Set(onAir.map((frame) => frame.from)));
    for (const frame of onAir) this.drawFlight(frame, (now - frame.start) / (frame.end - frame.start));
    for (const frame of film.between(now - FilmDrawing.afterglow, now)) {
      if (frame.end <= now) this.drawLosses(frame, 1 - (now - frame.end) / FilmDrawing.afterglow);
    }
    context.restore();
  }

  drawRange(frame) {
    const { context } = this;
    const { x, y } = this.places[frame.from];
    context.fillStyle = this.colour(frameKinds[frame.kind].colour);
    for (const [range, alpha] of [[this.film.ranges.sense, 0.05], [this.film.ranges.decode, 0.08]]) {
      context.globalAlpha = alpha;
      context.beginPath();
      context.arc(x, y, range * this.scale, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  drawNodes(sending) {
    const { context, film } = this;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    film.nodes.forEach((node, index) => {
      const { x, y } = this.places[index];
      context.fillStyle = this.colour(sending.has(index) ? "--ink" : "--soft");
      context.beginPath();
      if (node.gateway) context.rect(x - 7, y - 7, 14, 14);
      else context.arc(x, y, 6, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = this.colour("--soft");
      if (film.nodes.length <= 24) context.fillText(node.id, x, y + 30);
    });
  }

  /** The frame on its way: it travels while it is sent, though the air carries it at once. */
  drawFlight(frame, progress) {
    const { context } = this;
    const from = this.places[frame.from];
    const kind = frameKinds[frame.kind];
    if (frame.to === null) {
      context.strokeStyle = this.colour(kind.colour);
      context.lineWidth = 2;
      context.beginPath();
      context.arc(from.x, from.y, 8 + progress * this.film.ranges.decode * this.scale, 0, 2 * Math.PI);
      context.stroke();
      return;
    }
    const to = this.places[frame.to];
    // Each direction has its own side of the line between the nodes.
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const aside = { x: (13 * (to.y - from.y)) / length, y: (-13 * (to.x - from.x)) / length };
    const at = (share) => ({
      x: from.x + share * (to.x - from.x) + aside.x,
      y: from.y + share * (to.y - from.y) + aside.y,
    });
    const here = at(progress);
    const start = at(0);
    context.strokeStyle = this.colour(kind.colour);
    context.lineWidth = 2;
    context.globalAlpha = 0.5;
    context.beginPath();
    context.moveTo(start.x, start.y);
    context.lineTo(here.x, here.y);
    context.stroke();
    context.globalAlpha = 1;
    this.shape(kind, here.x, here.y, 7, Math.atan2(to.y - from.y, to.x - from.x));
  }

  drawLosses(frame, strength) {
    const { context } = this;
    for (const loss of frame.losses) {
      const { x, y } = this.places[loss.node];
      context.globalAlpha = Math.max(0.15, strength);
      this.shape(lossKinds[loss.cause], x, y - 1, 10, 0);
      context.globalAlpha = 1;
    }
  }

  drawLanes(now) {
    const { context, film } = this;
    const label = 34;
    const top = this.mesh + 8;
    const span = FilmDrawing.laneWindow * Math.min(1, this.width / 700);
    const perNs = (this.width - label) / span;
    const begin = now - 0.7 * span;
    const x = (time) => label + (time - begin) * perNs;
    const y = (node) => top + (node + 0.5) * this.lane;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    film.nodes.forEach((node, index) => {
      context.fillStyle = this.colour("--rule");
      context.fillRect(label, y(index) - 0.5, this.width - label, 1);
      context.fillStyle = this.colour("--soft");
      context.fillText(node.id, label - 6, y(index) + 4);
    });
    context.save();
    context.beginPath();
    context.rect(label, this.mesh, this.width - label, this.height - this.mesh);
    context.clip();
    for (const frame of film.between(begin, begin + span)) {
      const kind = frameKinds[frame.kind];
      const width = (frame.end - frame.start) * perNs;
      context.fillStyle = this.colour(kind.colour);
      context.globalAlpha = frame.start > now ? 0.18 : 0.4;
      context.fillRect(x(frame.start), y(frame.from) - 6, width, 12);
      context.globalAlpha = frame.start > now ? 0.4 : 1;
      this.shape(kind, x(frame.start) + width / 2, y(frame.from), 4.5, 0);
      for (const loss of frame.losses) {
        if (frame.end <= now) this.shape(lossKinds[loss.cause], x(frame.end), y(loss.node), 5, 0);
      }
      context.globalAlpha = 1;
    }
    context.fillStyle = this.colour("--ink");
    context.fillRect(x(now) - 0.75, this.mesh + 2, 1.5, this.height - this.mesh - 22);
    this.drawTicks(begin, span, x);
    context.restore();
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

  shape({ colour, shape }, x, y, size, angle) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate(shape === "triangle" ? angle : 0);
    context.fillStyle = context.strokeStyle = this.colour(colour);
    context.lineWidth = Math.max(1.6, size / 3.6);
    context.beginPath();
    FilmDrawing.paths[shape](context, size);
    if (["frame", "ring", "cross", "slash"].includes(shape)) context.stroke();
    else context.fill();
    context.restore();
  }

  static paths = {
    triangle(c, r) { c.moveTo(r, 0); c.lineTo(-r * 0.8, r * 0.9); c.lineTo(-r * 0.8, -r * 0.9); c.closePath(); },
    diamond(c, r) { c.moveTo(r, 0); c.lineTo(0, r); c.lineTo(-r, 0); c.lineTo(0, -r); c.closePath(); },
    bar(c, r) { c.rect(-1.5 * r, -0.75 * r, 3 * r, 1.5 * r); },
    frame(c, r) { c.rect(-1.2 * r, -0.65 * r, 2.4 * r, 1.3 * r); },
    circle(c, r) { c.arc(0, 0, 0.8 * r, 0, 2 * Math.PI); },
    ring(c, r) { c.arc(0, 0, 0.8 * r, 0, 2 * Math.PI); },
    cross(c, r) { c.moveTo(-r, -r); c.lineTo(r, r); c.moveTo(r, -r); c.lineTo(-r, r); },
    slash(c, r) { c.arc(0, 0, r, 0, 2 * Math.PI); c.moveTo(-0.7 * r, 0.7 * r); c.lineTo(0.7 * r, -0.7 * r); },
  };
}
