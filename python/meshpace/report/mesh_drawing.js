"use strict";

/** Draws a mesh: its nodes in their places, frames on their way, losses. What films and the emulator's live view have in common. */
class MeshDrawing {
  static side = 26; // px beside the outermost nodes

  /** `mesh` has nodes with `id`, `x`, `y` and `gateway`, and `ranges` in metres. */
  constructor(canvas, mesh) {
    this.canvas = canvas;
    this.mesh = mesh;
    this.context = canvas.getContext("2d");
  }

  /** Reads the colours anew and places the nodes between `left` and `right`, below `top`, no higher than `tallest`; the height that it takes. */
  place({ left, right, top, tallest }) {
    const style = getComputedStyle(this.canvas);
    this.colour = (name) => style.getPropertyValue(name).trim();
    const xs = this.mesh.nodes.map((node) => node.x);
    const ys = this.mesh.nodes.map((node) => node.y);
    const span = (values) => Math.max(...values) - Math.min(...values);
    const { side } = MeshDrawing;
    this.scale = Math.min((right - left - 2 * side) / Math.max(span(xs), 1), tallest / Math.max(span(ys), 1));
    const height = Math.max(span(ys) * this.scale + 90, 120);
    const first = left + (right - left - span(xs) * this.scale) / 2;
    this.placeOf = ([x, y]) => ({
      x: first + (x - Math.min(...xs)) * this.scale,
      y: top + height / 2 + ((Math.max(...ys) + Math.min(...ys)) / 2 - y) * this.scale,
    });
    this.places = this.mesh.nodes.map((node) => this.placeOf([node.x, node.y]));
    return height;
  }

  /** Makes the canvas as high as the drawing, sharp on every screen. */
  stretch() {
    const { canvas } = this;
    canvas.style.height = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  drawRange(frame) {
    const { context } = this;
    const { x, y } = this.places[frame.from];
    context.fillStyle = this.colour((frame.channel ?? frameKinds[frame.kind]).colour);
    for (const [range, alpha] of [[this.mesh.ranges.sense, 0.05], [this.mesh.ranges.decode, 0.08]]) {
      context.globalAlpha = alpha;
      context.beginPath();
      context.arc(x, y, range * this.scale, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  drawNodes(sending) {
    const { context, mesh } = this;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    mesh.nodes.forEach((node, index) => {
      const { x, y } = this.places[index];
      context.fillStyle = this.colour(sending.has(index) ? "--ink" : "--soft");
      context.beginPath();
      if (node.gateway) context.rect(x - 7, y - 7, 14, 14);
      else context.arc(x, y, 6, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = this.colour("--soft");
      if (mesh.nodes.length <= 24) context.fillText(node.id, x, y + 30);
    });
  }

  /** The frame on its way: it travels while it is sent, though the air carries it at once. */
  drawFlight(frame, progress, strength = 1) {
    const { context } = this;
    const from = this.places[frame.from];
    const kind = frameKinds[frame.kind];
    const line = frame.channel ?? kind;
    if (frame.to === null) {
      context.strokeStyle = this.colour(line.colour);
      context.lineWidth = 2;
      context.globalAlpha = strength;
      context.beginPath();
      // Where nodes have no places, no range is to scale.
      context.arc(from.x, from.y, 8 + progress * Math.max(this.mesh.ranges.decode * this.scale, 24), 0, 2 * Math.PI);
      context.stroke();
      context.globalAlpha = 1;
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
    context.strokeStyle = this.colour(line.colour);
    context.lineWidth = frame.channel ? 3 : 2;
    context.globalAlpha = (frame.channel ? 0.8 : 0.5) * strength;
    context.setLineDash(line.dash ?? []);
    context.beginPath();
    context.moveTo(start.x, start.y);
    context.lineTo(here.x, here.y);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = strength;
    this.shape(kind, here.x, here.y, 7, Math.atan2(to.y - from.y, to.x - from.x));
    context.globalAlpha = 1;
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

  shape({ colour, shape, dash = [] }, x, y, size, angle) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate(shape === "triangle" ? angle : 0);
    context.fillStyle = context.strokeStyle = this.colour(colour);
    context.lineWidth = Math.max(1.6, size / 3.6);
    context.setLineDash(dash);
    context.beginPath();
    MeshDrawing.paths[shape](context, size);
    if (["frame", "ring", "cross", "slash", "barred", "line"].includes(shape)) context.stroke();
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
    line(c, r) { c.moveTo(-1.6 * r, 0); c.lineTo(1.6 * r, 0); },
    barred(c, r) { c.rect(-r, -r, 2 * r, 2 * r); c.moveTo(-r, 0); c.lineTo(r, 0); },
  };
}

/** What shapes and lines mean: a list with a sample of each. */
class FrameKey {
  static kinds = [...Object.values(frameKinds), ...Object.values(lossKinds)];

  /** Of all kinds of frames, and of these channels. */
  static list(channels = []) {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const kind of [...FrameKey.kinds, ...channels]) {
      const item = document.createElement("li");
      const sample = document.createElement("canvas");
      sample.width = sample.height = 40;
      sample.className = "sample";
      sample.dataset.kind = kind.name;
      item.append(sample, kind.name);
      list.append(item);
    }
    return list;
  }

  /** Draws the samples within `box`, in its colours of now; `channels` as they were listed. */
  static draw(box, channels = []) {
    const kinds = [...FrameKey.kinds, ...channels];
    box.querySelectorAll(".sample").forEach((sample, index) => {
      const context = sample.getContext("2d");
      context.clearRect(0, 0, 40, 40);
      const colour = (name) => getComputedStyle(sample).getPropertyValue(name).trim();
      MeshDrawing.prototype.shape.call({ context, colour }, kinds[index], 20, 20, 12, 0);
    });
  }
}
