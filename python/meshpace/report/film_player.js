"use strict";

/** Plays films side by side on one clock, with buttons, keys and a slider. */
class FilmPlayer {
  /** Simulated time per second of watching, in ns. */
  static speeds = [0.5e6, 1e6, 2e6, 5e6, 20e6];

  constructor(box, films) {
    this.box = box;
    this.films = films;
    /** Those of the film that has most. */
    this.channels = films.map((film) => film.channels).reduce((most, more) => (more.length > most.length ? more : most));
    this.length = Math.max(...films.map((film) => film.length));
    this.moments = films
      .flatMap((film) => film.moments.map(({ at, text }) => ({ at, text: `${film.title}: ${text}` })))
      .sort((a, b) => a.at - b.at);
    this.now = 0;
    this.speed = 2e6;
    this.playing = false;
    this.visible = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.build();
    this.seek(0);
    new ResizeObserver(() => this.fit()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.fit());
    this.still.addEventListener("change", () => this.calm());
    this.calm();
    this.begun = false;
    new IntersectionObserver(([{ isIntersecting }]) => this.seen(isIntersecting), { threshold: 0.35 }).observe(box);
  }

  build() {
    const make = (tag, properties = {}, ...children) => {
      const element = Object.assign(document.createElement(tag), properties);
      element.append(...children);
      return element;
    };
    const button = (text, name, act) => {
      const element = make("button", { type: "button", textContent: text, onclick: act });
      element.setAttribute("aria-label", name);
      return element;
    };
    this.playButton = button("Play", "Play", () => this.toggle());
    this.playButton.classList.add("play");
    const speeds = make("select", { onchange: () => (this.speed = Number(speeds.value)) });
    for (const speed of FilmPlayer.speeds) {
      const text = `${speed / 1e6} ms a second`;
      speeds.append(new Option(text, String(speed), speed === this.speed, speed === this.speed));
    }
    this.slider = make("input", { type: "range", min: 0, max: this.length, step: 1000, value: 0 });
    this.slider.setAttribute("aria-label", "Time");
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    this.clock = make("output", { className: "clock" });
    this.told = make("p", { className: "told" });
    this.told.setAttribute("aria-live", "polite");
    const controls = make(
      "div", { className: "controls" },
      this.playButton,
      button("◀ Step", "Step back", () => this.step(-1)),
      button("Step ▶", "Step forward", () => this.step(1)),
      make("label", {}, "Speed ", speeds),
      this.slider,
      this.clock,
    );
    this.stages = this.films.map((film) => {
      const canvas = make("canvas", { tabIndex: 0 });
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${film.title}: frames on the air. Space plays, arrow keys step.`);
      canvas.addEventListener("keydown", (event) => this.key(event));
      const counts = make("small");
      const figure = make("figure", { className: "card" }, make("figcaption", {}, `${film.title} `, counts), canvas);
      return { film, canvas, counts, figure };
    });
    const stages = make("div", { className: "grid-of" }, ...this.stages.map((stage) => stage.figure));
    this.box.replaceChildren(controls, FrameKey.list(this.channels), stages, this.told);
    for (const stage of this.stages) stage.drawing = new FilmDrawing(stage.canvas, stage.film);
  }

  fit() {
    for (const { drawing } of this.stages) drawing.resize();
    FrameKey.draw(this.box, this.channels);
    this.draw();
  }

  /** Without motion where none is wanted: steps only. */
  calm() {
    if (this.still.matches) this.pause();
    this.playButton.hidden = this.still.matches;
    this.box.querySelector("label").hidden = this.still.matches;
  }

  /** Begins when it comes into sight for the first time, and rests out of sight. */
  seen(visible) {
    this.visible = visible;
    if (visible && !this.begun && !this.still.matches) {
      this.begun = true;
      this.play();
    } else if (this.playing) {
      this.tick();
    }
  }

  play() {
    if (this.playing || this.still.matches) return;
    if (this.now >= this.length) this.seek(0);
    this.playing = true;
    this.playButton.textContent = "Pause";
    this.playButton.setAttribute("aria-label", "Pause");
    this.told.textContent = "";
    this.tick();
  }

  pause() {
    this.playing = false;
    this.playButton.textContent = "Play";
    this.playButton.setAttribute("aria-label", "Play");
  }

  toggle() {
    this.begun = true;
    if (this.playing) this.pause();
    else this.play();
  }

  tick() {
    let before = null;
    const run = ++this.runs;
    const frame = (time) => {
      // A pause, another run or a page out of sight ends this one.
      if (!this.playing || !this.visible || run !== this.runs) return;
      // A tab that slept goes on where it was.
      const elapsed = Math.min(before === null ? 0 : time - before, 100);
      before = time;
      this.seek(this.now + (elapsed / 1000) * this.speed);
      if (this.now >= this.length) this.pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  runs = 0;

  seek(time) {
    this.now = Math.min(Math.max(time, 0), this.length);
    this.slider.value = String(this.now);
    this.draw();
  }

  draw() {
    this.clock.textContent = `${(this.now / 1e6).toFixed(3)} ms`;
    for (const { film, counts, drawing } of this.stages) {
      drawing.draw(this.now);
      const through = Film.count(film.throughTimes, this.now);
      const lost = Film.count(film.lossTimes, this.now);
      counts.textContent = `segments through the mesh: ${through}; frames lost: ${lost}`;
    }
  }

  /** To what happens next, or happened before, in any of the films. */
  step(direction) {
    this.begun = true;
    this.pause();
    const slack = 0.5; // ns
    const next =
      direction > 0
        ? this.moments.find((moment) => moment.at > this.now + slack)
        : this.moments.findLast((moment) => moment.at < this.now - slack);
    if (next === undefined) return;
    this.seek(next.at);
    this.told.textContent = this.moments
      .filter((moment) => Math.abs(moment.at - next.at) <= slack)
      .map((moment) => moment.text)
      .join("; ");
  }

  key(event) {
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0),
    };
    const act = acts[event.key];
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  }
}

for (const [id, films] of Object.entries(JSON.parse(document.getElementById("films").textContent))) {
  const box = document.querySelector(`#${CSS.escape(id)} .film`);
  box.player = new FilmPlayer(box, films.map((film) => new Film(film)));
}
