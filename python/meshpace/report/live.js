"use strict";

/** Shows an emulation while it runs, by the engine's snapshots. */
class LiveView {
  static behind = 0.25e9; // ns of the clock that the drawing is behind, so that it never waits for a snapshot
  static span = 3; // s over which goodput is told
  static minute = 60; // s of goodput that is drawn
  static rows = 12; // queues that are told

  constructor(scene) {
    const id = (name) => document.getElementById(name);
    this.at = { state: id("state"), clock: id("clock"), late: id("lateness"), flows: id("flows"), queues: id("queues") };
    this.hold = id("hold");
    this.goal = id("goal");
    this.routes = {};
    this.scene = scene;
    this.frames = [];
    this.queues = scene.nodes.map(() => 0);
    this.links = [];
    this.flows = new Map();
    this.updates = 0;
    this.latest = 0;
    this.held = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    id("key").append(FrameKey.list());
    this.drawing = new LiveDrawing(id("mesh"), scene);
    this.fit();
    new ResizeObserver(() => this.fit()).observe(id("mesh").parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.fit());
    this.hold.addEventListener("click", () => this.toggle());
    this.goal.addEventListener("change", () => this.showRoutes());
    this.connect();
    const frame = () => {
      if (!this.held && !this.still.matches) this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  fit() {
    this.drawing.resize();
    FrameKey.draw(document);
    this.draw();
  }

  connect() {
    const events = new EventSource("events");
    events.onopen = () => this.says("live", "on");
    events.onmessage = (event) => this.take(JSON.parse(event.data));
    events.onerror = () => this.says("the connection is lost; trying again", "off");
    events.addEventListener("routes", (event) => this.takeRoutes(JSON.parse(event.data)));
    events.addEventListener("over", (event) => {
      events.close();
      this.over = true;
      this.says("over", "");
      const words = document.getElementById("words");
      words.replaceChildren(...JSON.parse(event.data).words.map((word) => LiveView.made("li", word)));
      words.hidden = false;
    });
  }

  says(text, kind) {
    this.at.state.textContent = text;
    this.at.state.parentElement.className = `state ${kind}`;
  }

  toggle() {
    this.held = !this.held;
    this.hold.textContent = this.held ? "Go on" : "Hold";
    this.hold.setAttribute("aria-pressed", String(this.held));
    // What came meanwhile is not caught up with.
    if (!this.held) this.show();
  }

  /** A snapshot has come. */
  take(snapshot) {
    this.updates += 1;
    this.latest = snapshot.at_s * 1e9;
    const ahead = this.latest - (performance.now() * 1e6) / this.scene.dilation;
    const jumped = this.ahead === undefined || Math.abs(ahead - this.ahead) > 1e9;
    this.ahead = jumped ? ahead : this.ahead + 0.1 * (ahead - this.ahead);
    const { frames, losses } = snapshot;
    const first = this.frames.length;
    frames.start_ns.forEach((start, i) => {
      const [from, to, kind] = [frames.from[i], frames.to[i], frames.kind[i]];
      this.frames.push({ start, airtime: frames.airtime_ns[i], from, to, kind, losses: [] });
    });
    losses.frame.forEach((index, i) => {
      this.frames[first + index].losses.push({ node: losses.node[i], cause: losses.cause[i] });
    });
    // A second for the links, and a little for what is still drawn of dilated time.
    this.frames = this.frames.filter((frame) => frame.start > this.latest - 1.5e9);
    for (const flow of snapshot.flows) this.count(flow, snapshot.at_s);
    for (const [id, flow] of this.flows) if (flow.told !== snapshot.at_s) this.flows.delete(id);
    this.snapshot = snapshot;
    if (!this.held) this.show();
  }

  /** A flow's bytes so far. */
  count(row, now) {
    const known = this.flows.get(row.id) ?? { points: [], rates: [], look: this.look() };
    this.flows.set(row.id, known);
    Object.assign(known, { row, told: now });
    if (known.points.at(-1)?.[0] !== row.at_s) known.points.push([row.at_s, row.bytes]);
    while (known.points.length > 2 && known.points[1][0] <= row.at_s - LiveView.span) known.points.shift();
    const [from, before] = known.points[0];
    known.rate = row.at_s > from ? (8 * (row.bytes - before)) / (row.at_s - from) / 1000 : null;
    if (known.rate !== null) known.rates.push([now, known.rate]);
    while (known.rates.length > 0 && known.rates[0][0] < now - LiveView.minute) known.rates.shift();
  }

  /** The kernels' routes have changed: pairs of a node and the next one, by where they lead. */
  takeRoutes(routes) {
    const index = new Map(this.scene.nodes.map(({ id }, number) => [id, number]));
    const known = ([node, onward]) => index.has(node) && index.has(onward);
    const places = ([node, onward]) => [index.get(node), index.get(onward)];
    this.routes = Object.fromEntries(
      Object.entries(routes).map(([goal, pairs]) => [goal, pairs.filter(known).map(places)]),
    );
    const goals = ["", ...Object.keys(this.routes).filter((goal) => this.routes[goal].length > 0)];
    const before = this.goal.value;
    if (goals.includes(before) && goals.length === this.goal.options.length) return this.showRoutes();
    this.goal.replaceChildren(...goals.map((goal) => new Option(goal === "" ? "none" : goal, goal)));
    this.goal.value = goals.includes(before) ? before : "";
    document.getElementById("routes").hidden = goals.length < 2;
    this.showRoutes();
  }

  showRoutes() {
    const pairs = this.routes[this.goal.value] ?? [];
    this.drawing.routes = pairs;
    const ways = `${pairs.length} ${pairs.length === 1 ? "node has" : "nodes have"} one`;
    document.getElementById("reach").textContent = this.goal.value === "" ? "" : ways;
    this.draw();
  }

  /** The first colour that no flow has. */
  look() {
    const taken = new Set([...this.flows.values()].map((flow) => flow.look));
    let look = 0;
    while (taken.has(look)) look++;
    return look;
  }

  show() {
    const { snapshot } = this;
    if (snapshot === undefined) return;
    this.queues = snapshot.queues;
    if (snapshot.places !== null) this.drawing.move(snapshot.places);
    this.links = this.shares();
    this.at.clock.textContent = `${snapshot.at_s.toFixed(1)} s`;
    this.showLateness(snapshot.lateness);
    this.showFlows();
    this.showQueues();
    const missed = [];
    if (snapshot.left_out > 0) missed.push(`${snapshot.left_out} frames were too many to be shown.`);
    if (snapshot.skipped > 0) missed.push(`${snapshot.skipped} updates were left out, because nobody took them.`);
    document.getElementById("missed").textContent = missed.join(" ");
    if (this.still.matches) this.draw();
  }

  /** Pairs of nodes with the share of the last second that their frames took. */
  shares() {
    const span = Math.min(this.latest, 1e9);
    const taken = new Map();
    for (const { start, airtime, from, to } of this.frames) {
      if (to === null || start < this.latest - span) continue;
      const key = from < to ? `${from} ${to}` : `${to} ${from}`;
      taken.set(key, (taken.get(key) ?? 0) + airtime);
    }
    return [...taken].map(([key, time]) => [...key.split(" ").map(Number), time / Math.max(span, 1)]);
  }

  showLateness({ valid, deliveries, share_late, bound_s, p50_s, p999_s, max_s }) {
    if (valid === null) return;
    const ms = (seconds) => `${(1e3 * seconds).toFixed(2)} ms`;
    const share = `${(100 * (1 - share_late)).toFixed(3)} %`;
    const verdict = LiveView.made("b", valid ? "valid so far" : "INVALID so far");
    verdict.className = valid ? "holds" : "fails";
    const told = `: ${share} of ${deliveries.toLocaleString("en")} packets within ${1e3 * bound_s} ms; median ${ms(p50_s)}, ` +
      `99.9 % ${ms(p999_s)}, worst ${ms(max_s)}`;
    this.at.late.replaceChildren("Lateness: ", verdict, told);
  }

  showFlows() {
    const flows = [...this.flows.values()];
    if (flows.length === 0) return;
    const peak = Math.max(1, ...flows.flatMap((flow) => flow.rates.map(([, rate]) => rate)));
    const rows = flows.map((flow) => this.flowRow(flow, peak));
    if (flows.length > 1) {
      const sum = flows.reduce((total, flow) => total + (flow.rate ?? 0), 0);
      const cells = [LiveView.made("td", "together"), LiveView.made("td", LiveView.rate(sum))];
      cells[0].className = "key";
      const all = document.createElement("tr");
      all.className = "all";
      all.append(...cells, ...[0, 0, 0].map(() => document.createElement("td")));
      rows.push(all);
    }
    this.at.flows.replaceChildren(...rows);
  }

  flowRow({ row, rate, rates, look }, peak) {
    const line = document.createElement("tr");
    line.className = `s${look % 6}`;
    const name = document.createElement("td");
    name.className = "key";
    name.append(document.createElement("i"), `${row.from} → ${row.to}`, LiveView.made("small", row.kind));
    const told = LiveView.made("td", rate === null ? "–" : LiveView.rate(rate));
    told.className = "rate";
    const drawn = document.createElement("td");
    drawn.append(LiveView.spark(rates, this.latest / 1e9, peak));
    const queue = row.queue === null ? "–" : String(row.queue);
    line.append(name, told, drawn, LiveView.made("td", (row.bytes / 1000).toFixed(0)), LiveView.made("td", queue));
    return line;
  }

  static rate(kbit) {
    return kbit.toFixed(kbit < 10 ? 1 : 0);
  }

  /** Goodput over the last minute; all flows to one scale. */
  static spark(rates, now, peak) {
    const name = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(name, "svg");
    svg.setAttribute("viewBox", `0 0 ${LiveView.minute} 20`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.classList.add("spark");
    const path = document.createElementNS(name, "path");
    const point = ([at, rate]) => `${(LiveView.minute - (now - at)).toFixed(2)} ${(19 - (18 * rate) / peak).toFixed(2)}`;
    path.setAttribute("d", rates.length > 0 ? `M${rates.map(point).join("L")}` : "");
    svg.append(path);
    return svg;
  }

  /** The fullest queues, in the order of the nodes. */
  showQueues() {
    const nodes = this.queues.map((waiting, index) => ({ waiting, index }));
    const fullest = [...nodes].sort((a, b) => b.waiting - a.waiting || a.index - b.index).slice(0, LiveView.rows);
    const most = Math.max(10, ...this.queues);
    const rows = fullest.sort((a, b) => a.index - b.index).map(({ waiting, index }) => {
      const line = document.createElement("li");
      const bar = document.createElement("i");
      bar.style.width = `${(100 * waiting) / most}%`;
      const { id, gateway } = this.scene.nodes[index];
      line.append(LiveView.made("span", gateway ? `${id} (gateway)` : id), bar, LiveView.made("b", String(waiting)));
      return line;
    });
    this.at.queues.replaceChildren(...rows);
  }

  draw() {
    const { dilation } = this.scene;
    const clock = (performance.now() * 1e6) / dilation + (this.ahead ?? 0);
    const now = Math.min(clock - LiveView.behind / dilation, this.latest);
    this.drawing.draw(this.ahead === undefined ? 0 : now, this.frames, this.links, this.queues, this.still.matches);
  }

  static made(tag, text) {
    return Object.assign(document.createElement(tag), { textContent: text });
  }
}

window.live = new LiveView(JSON.parse(document.getElementById("scene").textContent));
