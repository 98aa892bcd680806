"use strict";
(async () => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);

  const inflate = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  };
  const kinds = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  // An array is {kind, data} or, quantised, {kind: "u1", data, low, high}.
  const array = async (packed) => {
    const raw = new kinds[packed.kind](await inflate(packed.data));
    if (packed.low === undefined) return raw;
    const scale = (packed.high - packed.low) / 255;
    return Float32Array.from(raw, (v) => packed.low + v * scale);
  };

  const plotly = new TextDecoder().decode(await inflate(byId("plotly-source").textContent));
  const script = document.createElement("script");
  script.textContent = plotly;
  document.head.append(script);
  const settings = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  for (const [id, figure] of Object.entries(report.figures)) {
    Plotly.newPlot(`plot-${id}`, figure.data, figure.layout, settings);
  }

  const systems = [];
  for (const system of report.systems) {
    const d = system.detections;
    systems.push({
      name: system.name,
      score: await array(d.score), hits: await array(d.hits), type: await array(d.type),
      recording: await array(d.recording), time: await array(d.time),
    });
  }
  const truth = {
    recording: await array(report.truth.recording), type: await array(report.truth.type),
    time: await array(report.truth.time),
  };

  const options = (select, names) => names.forEach((name, i) => select.add(new Option(name, i)));
  options(byId("system"), systems.map((s) => s.name));
  options(byId("type"), ["all", ...report.types]);
  options(byId("tolerance"), report.tolerances.map((t) => `${t} s`));
  options(byId("recording"), report.recordings.map((r) => r.id));

  const chosen = () => ({
    system: systems[+byId("system").value], type: +byId("type").value - 1,
    tolerance: +byId("tolerance").value, cutoff: byId("cutoff").value === "" ? -Infinity : +byId("cutoff").value,
  });
  const counted = (row, type) => type < 0 || row === type;
  let ranked = [];
  const rank = () => {
    const { system, type } = chosen();
    ranked = Array.from(system.score).filter((_, i) => counted(system.type[i], type)).sort((a, b) => a - b);
  };
  const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");

  const update = () => {
    const { system, type, tolerance, cutoff } = chosen();
    let kept = 0, hits = 0, events = 0;
    for (let i = 0; i < system.score.length; i++) {
      if (system.score[i] < cutoff || !counted(system.type[i], type)) continue;
      kept += 1;
      hits += (system.hits[i] >> tolerance) & 1;
    }
    for (const row of truth.type) events += counted(row, type) ? 1 : 0;
    byId("out-kept").textContent = kept;
    byId("out-hits").textContent = hits;
    byId("out-missed").textContent = events - hits;
    byId("out-precision").textContent = share(hits, kept);
    byId("out-recall").textContent = share(hits, events);
    byId("out-f1").textContent = share(2 * hits, kept + events);
    byId("out-alarms").textContent = report.days ? ((kept - hits) / report.days).toFixed(3) : "–";
    drawEvents();
  };

  // The slider walks through the ranks, so that every part of it changes something.
  byId("slider").addEventListener("input", () => {
    const place = +byId("slider").value / 1000 * ranked.length;
    byId("cutoff").value = place >= ranked.length ? ranked[ranked.length - 1] * 1.0001 : ranked[Math.floor(place)];
    update();
  });
  byId("cutoff").addEventListener("input", () => {
    const cutoff = chosen().cutoff;
    byId("slider").value = 1000 * ranked.filter((s) => s < cutoff).length / Math.max(1, ranked.length);
    update();
  });
  for (const id of ["system", "type"]) byId(id).addEventListener("change", () => { rank(); update(); });
  byId("tolerance").addEventListener("change", update);
  byId("system").addEventListener("change", () => showRecording());

  // Least and greatest value of every pixel column: fluid for any length, and no peak is lost.
  const thin = (x, y, from, to, columns) => {
    let begin = 0, end = x.length;
    while (begin < end && x[begin + 1] < from) begin += 1;
    while (end > begin && x[end - 2] > to) end -= 1;
    const step = Math.ceil((end - begin) / columns);
    if (step < 3) return [x.slice(begin, end), y.slice(begin, end)];
    const xs = [], ys = [];
    for (let i = begin; i < end; i += step) {
      let low = i, high = i;
      for (let j = i; j < Math.min(end, i + step); j++) {
        if (y[j] < y[low]) low = j;
        if (y[j] > y[high]) high = j;
      }
      for (const j of low < high ? [low, high] : [high, low]) { xs.push(x[j]); ys.push(y[j]); }
    }
    return [xs, ys];
  };

  const colours = ["#0b5cad", "#b3430f", "#17713f", "#7a3e9d", "#946200", "#00707a"];
  const plot = byId("plot-view");
  let view = null;

  const traces = (from, to) => {
    const columns = Math.max(300, plot.clientWidth);
    const lines = [];
    if (view.signal) {
      const [x, y] = thin(view.signal.x, view.signal.y, from, to, columns);
      lines.push({ x, y, name: view.signal.name, line: { color: "#5b6b78", width: 1 }, yaxis: "y2", mode: "lines" });
    }
    for (const density of view.densities) {
      const [x, y] = thin(density.x, density.y, from, to, columns);
      const colour = colours[report.types.indexOf(density.name) % colours.length] || "#0b5cad";
      lines.push({ x, y, name: `density ${density.name}`, line: { color: colour, width: 1.5 }, mode: "lines" });
    }
    return lines;
  };
  const marks = () => {
    const { system, tolerance, cutoff } = chosen();
    return report.types.map((name, t) => {
      const x = [], y = [], text = [], symbol = [];
      for (let i = 0; i < system.score.length; i++) {
        if (system.recording[i] !== view.index || system.type[i] !== t || system.score[i] < cutoff) continue;
        x.push(system.time[i] / 3600); y.push(view.height(system.score[i]));
        const hit = (system.hits[i] >> tolerance) & 1;
        symbol.push(hit ? "triangle-down" : "triangle-down-open");
        text.push(`${name}, score ${system.score[i].toPrecision(4)}, ${hit ? "correct" : "false"}`);
      }
      return { x, y, text, name: `detected ${name}`, mode: "markers", hoverinfo: "text+x",
        marker: { symbol, size: 10, color: colours[t % colours.length], line: { width: 1.5, color: colours[t % colours.length] } } };
    });
  };
  const layout = () => {
    const shapes = [];
    for (let i = 0; i < truth.time.length; i++) {
      if (truth.recording[i] !== view.index) continue;
      const x = truth.time[i] / 3600;
      shapes.push({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1,
        line: { color: colours[truth.type[i] % colours.length], width: 1.5, dash: "dash" } });
    }
    return { margin: { l: 60, r: 16, t: 56, b: 44 }, shapes, hovermode: "closest", uirevision: view.index,
      xaxis: { title: { text: "hours from the start" }, range: [view.from, view.to] },
      yaxis: { title: { text: "density and score" }, domain: [0, 0.52], rangemode: "tozero" },
      yaxis2: { title: { text: view.signal ? view.signal.name : "" }, domain: [0.58, 1] },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", font: { size: 11 } }, paper_bgcolor: "#fff", plot_bgcolor: "#fff" };
  };
  const drawEvents = () => { if (view) Plotly.react(plot, [...traces(view.from, view.to), ...marks()], layout(), settings); };

  const showRecording = async () => {
    const index = +byId("recording").value;
    const item = report.recordings[index];
    const select = byId("channel");
    const names = item.signals.map((s) => s.name);
    const before = select.selectedOptions[0]?.text;
    select.replaceChildren();
    options(select, names.length ? names : ["none"]);
    if (names.includes(before)) select.value = names.indexOf(before);
    const signal = item.signals[+select.value];
    const curve = async (s) => ({ name: s.name, x: (await array(s.x)).map((v) => v / 3600), y: await array(s.y) });
    const densities = item.densities.filter((d) => d.system === +byId("system").value);
    view = { index, from: 0, to: item.hours, signal: signal ? await curve(signal) : null,
      densities: await Promise.all(densities.map(curve)) };
    const top = Math.max(...view.densities.flatMap((d) => [d.y.reduce((a, b) => Math.max(a, b), 0)]), 0);
    const best = Math.max(...systems[+byId("system").value].score);
    // Scores of another unit than the density (a rank, a difference) are drawn to the density's height.
    view.height = top > 0 && (best > 3 * top || best < top / 3) ? (s) => s / best * top : (s) => s;
    drawEvents();
  };
  let waiting = 0;
  const zoomed = (change) => {
    if (!view || (change["xaxis.range[0]"] === undefined && !change["xaxis.autorange"])) return;
    const all = report.recordings[view.index].hours;
    view.from = change["xaxis.autorange"] ? 0 : +change["xaxis.range[0]"];
    view.to = change["xaxis.autorange"] ? all : +change["xaxis.range[1]"];
    clearTimeout(waiting);
    waiting = setTimeout(drawEvents, 60);
  };

  byId("recording").addEventListener("change", showRecording);
  byId("channel").addEventListener("change", showRecording);
  const step = (by) => {
    const count = report.recordings.length;
    byId("recording").value = (+byId("recording").value + by + count) % count;
    showRecording();
  };
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("whole").addEventListener("click", () => { view.from = 0; view.to = report.recordings[view.index].hours; drawEvents(); });
  for (const button of document.querySelectorAll("button[data-recording]")) {
    button.addEventListener("click", () => {
      byId("recording").value = button.dataset.recording;
      showRecording();
      byId("view").scrollIntoView();
    });
  }

  rank();
  byId("cutoff").value = report.cutoff;
  byId("cutoff").dispatchEvent(new Event("input"));
  if (report.recordings.length) {
    await showRecording();
    plot.on("plotly_relayout", zoomed);
  }
  document.body.dataset.ready = "true";
})();
