"use strict";

/** Draws a mesh with its wired part while frames come in: times in ns of simulated time. */
class LiveDrawing extends MeshDrawing {
  static flight = 120e6; // ns of the clock for which a frame is drawn
  static glow = 500e6; // and a loss
  static column = 66; // px between wired nodes
  /** Frames that carry something are in front. */
  static faint = new Set(["rts", "cts", "ack", "arp"]);

  constructor(canvas, scene) {
    super(canvas, scene);
    this.scene = scene;
    /** Pairs of a node and the next one, on the way to a goal. */
    this.routes = [];
    this.resize();
  }

  /** Fits the drawing into its place; colours are read anew. */
  resize() {
    const { wired } = this.scene;
    this.width = this.canvas.clientWidth;
    const columns = Math.max(0, ...wired.map((node) => node.depth));
    const wide = this.width > 500 + columns * LiveDrawing.column;
    // The wired part is right of the mesh, or above it where that would leave the mesh no room.
    const right = wide ? this.width - columns * LiveDrawing.column : this.width;
    const rows = (depth) => wired.filter((node) => node.depth === depth);
    const most = Math.max(0, ...wired.map((node) => rows(node.depth).length));
    const top = wide || columns === 0 ? 0 : 24 + most * 30;
    this.height = top + this.place({ left: 0, right, top, tallest: wide ? 440 : 300 });
    if (wide) this.height = Math.max(this.height, most * 30 + 20);
    const gateways = this.scene.nodes.flatMap((node, index) => (node.gateway ? [this.places[index].y] : []));
    const middle = gateways.reduce((sum, y) => sum + y, 0) / Math.max(gateways.length, 1);
    this.wired = new Map(
      wired.map((node) => {
        const row = rows(node.depth).indexOf(node);
        const x = this.width - 24 - (columns - node.depth) * LiveDrawing.column;
        const aside = (row - (rows(node.depth).length - 1) / 2) * 30;
        const within = Math.min(Math.max(middle, most * 15 + 5), this.height - most * 15 - 5);
        return [node.id, { x, y: wide ? within + aside : 20 + row * 30, node }];
      }),
    );
    this.stretch();
  }

  /** Nodes that move are where they are; the drawing is fitted anew when one has left it. */
  move(places) {
    places.forEach(([x, y], index) => Object.assign(this.scene.nodes[index], { x, y }));
    const { side } = MeshDrawing;
    const out = ([x, y]) => {
      const place = this.placeOf([x, y]);
      return place.x < side / 2 || place.x > this.width - side / 2 || place.y < 10 || place.y > this.height - 34;
    };
    if (places.some(out)) this.resize();
    else this.places = places.map(this.placeOf);
  }

  /** At `now`: frames that began not long before, losses, what the links carried, packets that wait. */
  draw(now, frames, links, queues, still) {
    const { context } = this;
    const { dilation } = this.scene;
    context.clearRect(0, 0, this.width, this.height);
    this.drawWires();
    this.drawLinks(links);
    this.drawRoutes();
    const age = (frame) => (now - frame.start) * dilation;
    const flying = still ? [] : frames.filter((frame) => age(frame) >= 0 && age(frame) < LiveDrawing.flight);
    this.drawNodes(new Set(flying.map((frame) => frame.from)));
    this.drawHosts();
    const faint = (frame) => LiveDrawing.faint.has(frame.kind);
    for (const frame of [...flying.filter(faint), ...flying.filter((frame) => !faint(frame))]) {
      const strength = frame.to === null ? 1 - age(frame) / LiveDrawing.flight : 1;
      this.drawFlight(frame, age(frame) / LiveDrawing.flight, (faint(frame) ? 0.3 : 1) * strength);
    }
    for (const frame of frames) {
      const since = age(frame) - LiveDrawing.flight;
      if (since >= 0 && since < LiveDrawing.glow) this.drawLosses(frame, 1 - since / LiveDrawing.glow);
    }
    this.drawQueues(queues);
  }

  drawWires() {
    const { context } = this;
    const place = new Map(this.scene.nodes.map((node, index) => [node.id, this.places[index]]));
    for (const [id, at] of this.wired) place.set(id, at);
    context.strokeStyle = this.colour("--soft");
    context.lineWidth = 3;
    for (const [a, b] of this.scene.wires) {
      context.beginPath();
      context.moveTo(place.get(a).x, place.get(a).y);
      context.lineTo(place.get(b).x, place.get(b).y);
      context.stroke();
    }
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (const [id, { x, y, node }] of this.wired) {
      context.fillStyle = this.colour("--card");
      context.strokeStyle = this.colour(node.host ? "--accent" : "--soft");
      context.lineWidth = node.host ? 2.5 : 1.5;
      context.beginPath();
      context.roundRect(x - 22, y - 11, 44, 22, 5);
      context.fill();
      context.stroke();
      context.fillStyle = this.colour("--ink");
      context.fillText(this.short(id, 40), x, y + 4);
    }
  }

  /** As much of a text as there is room for. */
  short(text, room) {
    if (this.context.measureText(text).width <= room) return text;
    let end = text.length - 1;
    while (end > 1 && this.context.measureText(`${text.slice(0, end)}…`).width > room) end--;
    return `${text.slice(0, end)}…`;
  }

  /** Real hosts have a ring. */
  drawHosts() {
    const { context } = this;
    context.strokeStyle = this.colour("--accent");
    context.lineWidth = 2.5;
    this.scene.nodes.forEach((node, index) => {
      if (!node.host) return;
      const { x, y } = this.places[index];
      context.beginPath();
      if (node.gateway) context.rect(x - 10.5, y - 10.5, 21, 21);
      else context.arc(x, y, 10, 0, 2 * Math.PI);
      context.stroke();
    });
  }

  /** A line a pair of nodes, as wide as the share of time that their frames took. */
  drawLinks(links) {
    const { context } = this;
    context.strokeStyle = this.colour("--data");
    context.globalAlpha = 0.22;
    for (const [a, b, share] of links) {
      context.lineWidth = 1 + 16 * Math.min(share, 1);
      context.beginPath();
      context.moveTo(this.places[a].x, this.places[a].y);
      context.lineTo(this.places[b].x, this.places[b].y);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** An arrow from each node to the next one. */
  drawRoutes() {
    const { context } = this;
    context.strokeStyle = this.colour("--accent");
    context.fillStyle = this.colour("--accent");
    context.lineWidth = 2;
    for (const [from, to] of this.routes) {
      const [a, b] = [this.places[from], this.places[to]];
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const along = { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
      const at = (distance, aside) => [
        b.x - distance * along.x - aside * along.y,
        b.y - distance * along.y + aside * along.x,
      ];
      context.beginPath();
      context.moveTo(a.x + 14 * along.x, a.y + 14 * along.y);
      context.lineTo(...at(20, 0));
      context.stroke();
      context.beginPath();
      context.moveTo(...at(13, 0));
      context.lineTo(...at(22, 5));
      context.lineTo(...at(22, -5));
      context.fill();
    }
  }

  drawQueues(queues) {
    const { context } = this;
    context.font = "650 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = this.colour("--ink");
    queues.forEach((waiting, index) => {
      const { x, y } = this.places[index];
      if (waiting > 0) context.fillText(String(waiting), x, y - 25);
    });
  }
}
