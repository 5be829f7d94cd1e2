"use strict";

/** Charts that can be zoomed, asked and switched. */
(() => {
  const views = carried.json("views");
  const symbols = ["circle", "square", "diamond", "triangle-up", "cross", "x"];
  const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const patterns = ["", "-", "|", "+", "."]; // looks.py
  const manyBars = 6; // names of more groups of bars than this stand beside bars that lie
  const finePointer = matchMedia("(hover: hover) and (pointer: fine)").matches;
  const drawn = new Map(); // plot element -> chart, ends of its values, hidden series

  let library = null;
  let unpacked = null; // once it is
  function plotly() {
    library ??= carried.unpack(carried.bytes(document.getElementById("plotly").textContent)).then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
      return (unpacked = window.Plotly);
    });
    return library;
  }

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (index) => css(`--s${index}`);
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/\n/g, "<br>");

  /** A value in the unit of the chart, as text. */
  function shown(chart, value) {
    const digits = { minimumFractionDigits: chart.decimals, maximumFractionDigits: chart.decimals };
    return (value * chart.factor).toLocaleString("en-US", digits);
  }

  function describe(chart, series, index) {
    const place = chart.axis[index].replace(/\n/g, ", ");
    const half = series.half[index] === null ? "" : ` ± ${shown(chart, series.half[index])}`;
    const runs = series.runs[index] === 1 ? "1 run" : `${series.runs[index]} runs`;
    const text = `${series.name}, ${place}: ${shown(chart, series.mean[index])}${half} ${chart.unit}`;
    return `${text.trim()} (${runs})`;
  }

  /** The confidence band: a polygon for each stretch without gaps. */
  function band(chart, series, places, line) {
    const x = [];
    const y = [];
    let stretch = [];
    const close = () => {
      if (stretch.length > 1) {
        const edge = (i, sign) => (series.mean[i] + sign * series.half[i]) * chart.factor;
        const back = [...stretch].reverse();
        x.push(...stretch.map((i) => places[i]), ...back.map((i) => places[i]), null);
        y.push(...stretch.map((i) => edge(i, 1)), ...back.map((i) => edge(i, -1)), null);
      }
      stretch = [];
    };
    series.mean.forEach((mean, i) => (mean === null || series.half[i] === null ? close() : stretch.push(i)));
    close();
    return {
      x, y, type: "scatter", mode: "lines", fill: "toself", line: { width: 0, color: line },
      opacity: chart.dense ? 0.1 : 0.18,
      fillcolor: line, hoverinfo: "skip", showlegend: false,
    };
  }

  function traces(chart, hidden) {
    const places = chart.x ?? chart.axis.map(plain);
    return chart.series.flatMap((series) => {
      if (hidden.has(series.name)) return [];
      const line = colour(series.colour);
      const common = {
        name: plain(series.name),
        x: places,
        y: series.mean.map((mean) => (mean === null ? null : mean * chart.factor)),
        hovertext: series.mean.map((mean, i) => (mean === null ? "" : plain(describe(chart, series, i)))),
        customdata: series.mean.map((_, i) => series.commands[i] ?? series.commands[0]),
        hovertemplate: "%{hovertext}<extra></extra>",
        showlegend: false,
      };
      if (chart.bars) {
        const half = series.half.map((width) => (width === null ? 0 : width * chart.factor));
        const whiskers = { type: "data", array: half, color: css("--ink"), thickness: 1.2, width: 3 };
        // Over the colour: by default a pattern takes its place.
        const pattern = { shape: patterns[series.pattern], fillmode: "overlay", fgcolor: css("--card"), size: 5 };
        const bar = { ...common, type: "bar", marker: { color: line, pattern } };
        if (!lies(chart)) return [{ ...bar, error_y: whiskers }];
        return [{ ...bar, x: common.y, y: places, orientation: "h", error_x: whiskers }];
      }
      const dash = chart.dense ? "solid" : dashes[series.dash];
      return [
        band(chart, series, places, line),
        {
          ...common, type: "scatter", mode: chart.dense ? "lines" : "lines+markers",
          line: { color: line, width: chart.dense ? 1.5 : 2, dash },
          marker: { color: line, size: 7, symbol: symbols[series.colour] + (series.pattern % 2 ? "-open" : "") },
        },
      ];
    });
  }

  const lies = (chart) => chart.bars && chart.axis.length > manyBars;

  function layout(chart, ends) {
    const axis = {
      gridcolor: css("--rule"), zerolinecolor: css("--rule"), linecolor: css("--rule"), automargin: true,
      tickfont: { size: 12 }, fixedrange: !finePointer,
    };
    const x = { ...axis, title: { text: plain(chart.axisTitle), standoff: 8 }, type: "category" };
    if (chart.x !== null) {
      x.type = chart.log ? "log" : "linear";
      if (chart.axis.length <= 12) Object.assign(x, { tickvals: chart.x, ticktext: chart.axis.map(plain) });
    }
    const [low, peak] = ends;
    const beyond = chart.top === null ? 1.06 : 1.02;
    const values = { ...axis, tickformat: ",", range: [low * beyond, (peak || (low < 0 ? 0 : 1)) * beyond] };
    if (low < 0) Object.assign(values, { zeroline: true, zerolinecolor: css("--soft") });
    const places = lies(chart)
      ? { xaxis: values, yaxis: { ...x, title: undefined, autorange: "reversed" } }
      : { xaxis: x, yaxis: values };
    return {
      ...places,
      // Above the data there is room for the buttons where there are any.
      margin: { l: 52, r: 10, t: finePointer ? 44 : 8, b: 40 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12, color: css("--soft") },
      barmode: "group", bargap: 0.25, hovermode: "closest", dragmode: finePointer ? "zoom" : false,
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--rule"), font: { color: css("--ink") } },
    };
  }

  const peakOf = (chart) => {
    if (chart.top !== null) return chart.top;
    const tops = chart.series.flatMap((s) => s.mean.map((m, i) => (m === null ? 0 : m + (s.half[i] ?? 0))));
    return Math.max(0, ...tops) * chart.factor;
  };

  /** Values below zero count with their bands; a band alone that reaches there does not. */
  const lowOf = (chart) => {
    if (chart.series.every((s) => s.mean.every((m) => m === null || m >= 0))) return 0;
    const lows = chart.series.flatMap((s) => s.mean.map((m, i) => (m === null ? 0 : m - (s.half[i] ?? 0))));
    return Math.min(0, ...lows) * chart.factor;
  };
  const endsOf = (chart) => [lowOf(chart), peakOf(chart)];

  async function redraw(plot) {
    const api = await plotly();
    if (plot.isConnected) return draw(plot, api);
  }

  /** All but the events is done when it returns: a printer does not wait. */
  async function draw(plot, api) {
    const { chart, ends, hidden } = drawn.get(plot);
    plot.classList.add("live");
    plot.classList.toggle("tall", lies(chart));
    const config = { responsive: true, displaylogo: false, displayModeBar: finePointer ? "hover" : false };
    config.modeBarButtonsToRemove = ["lasso2d", "select2d", "autoScale2d"];
    await api.react(plot, traces(chart, hidden), layout(chart, ends), config);
    if (plot.dataset.asked) return;
    plot.dataset.asked = "yes";
    plot.on("plotly_click", ({ points }) => answer(plot, points[0].customdata));
  }

  /** Shows what repeats a point below its chart. */
  function answer(plot, number) {
    if (number === undefined) return;
    const command = plot.closest("section").querySelector(".commands").textContent.split("\n")[number];
    const box = plot.parentElement.querySelector(".repeat");
    const code = document.createElement("code");
    code.textContent = command;
    const copy = document.createElement("button");
    copy.textContent = "Copy";
    copy.addEventListener("click", () => navigator.clipboard?.writeText(command));
    box.replaceChildren(code, copy);
  }

  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        redraw(target).catch((error) => {
          target.textContent = `This chart cannot be drawn here: ${error.message}`;
        });
      }
    },
    { rootMargin: "300px" },
  );

  function figure(chart) {
    const element = document.createElement("figure");
    element.className = "card";
    const caption = document.createElement("figcaption");
    const unit = document.createElement("small");
    unit.textContent = chart.unit;
    caption.append(`${chart.title} `, unit);
    const plot = document.createElement("div");
    plot.className = "plot";
    element.append(caption, plot);
    return element;
  }

  function prepare(section, box) {
    const grid = box.querySelector(".grid-of");
    const hidden = new Set();

    function attach(view) {
      const ends = view.charts.map((chart) => {
        const alike = view.shared ? view.charts.filter(({ unit }) => unit === chart.unit) : [chart];
        const all = alike.map(endsOf);
        return [Math.min(...all.map(([low]) => low)), Math.max(...all.map(([, peak]) => peak))];
      });
      grid.querySelectorAll(".plot").forEach((plot, index) => {
        const chart = view.charts[index];
        drawn.set(plot, { chart, ends: ends[index], hidden });
        const box = document.createElement("output");
        box.className = "repeat";
        plot.after(box);
        watcher.observe(plot);
      });
    }

    function show(view) {
      for (const plot of grid.querySelectorAll(".plot")) {
        watcher.unobserve(plot);
        drawn.delete(plot);
        if (plot.classList.contains("live")) window.Plotly.purge(plot);
      }
      grid.replaceChildren(...view.charts.map(figure));
      attach(view);
    }

    for (const item of box.querySelectorAll(".legend li")) {
      const button = document.createElement("button");
      const name = item.textContent;
      button.append(...item.childNodes);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        if (!hidden.delete(name)) hidden.add(name);
        button.setAttribute("aria-pressed", String(!hidden.has(name)));
        grid.querySelectorAll(".plot.live").forEach(redraw);
      });
      item.append(button);
    }

    if (section.length > 1) {
      const label = document.createElement("label");
      const select = document.createElement("select");
      section.forEach((view, index) => select.append(new Option(view.name, String(index))));
      select.addEventListener("change", () => show(section[Number(select.value)]));
      label.className = "picker";
      label.append("Show ", select);
      box.prepend(label);
    }
    attach(section[0]);
  }

  for (const [id, section] of Object.entries(views)) {
    const box = document.querySelector(`#${CSS.escape(id)} .views`);
    if (box !== null) prepare(section, box);
  }
  // What has not been in sight is printed, too.
  addEventListener("beforeprint", () => {
    for (const plot of document.querySelectorAll(".plot:not(.live)")) if (unpacked !== null) draw(plot, unpacked);
  });
  (window.requestIdleCallback ?? setTimeout)(plotly);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.querySelectorAll(".plot.live").forEach(redraw);
  });
})();
