"use strict";
// One recording at a time: signal, density, true and detected events, reduced to the pixels shown.
// `chosen()` gives system (and its place), type, tolerance and threshold of the page's controls.
const recordingView = ({ report, systems, truth, chosen, array, colours, plain, settings, touch }) => {
  const byId = (id) => document.getElementById(id);
  const plot = byId("plot-view");
  const nobody = 0xffffffff;
  const units = [[1, "seconds", 600], [60, "minutes", 3 * 3600], [3600, "hours", Infinity]];
  let view = null, drawn = 0, frame = 0;

  const colourOf = (name) => colours[report.types.indexOf(name) % colours.length] || "#4a5a68";

  // Minimum and maximum of every pixel column: fast for any length, and no peak is lost.
  const thin = (curve, columns) => {
    const { first, step, levels, low, scale } = curve;
    const begin = Math.max(0, Math.floor((view.from - first) / step));
    const end = Math.min(levels.length, Math.ceil((view.to - first) / step) + 1);
    const x = [], y = [];
    const push = (i) => { x.push((first + i * step) / view.unit); y.push(levels[i] === 255 ? null : low + levels[i] * scale); };
    const width = Math.ceil((end - begin) / columns);
    for (let i = begin; i < end; i += Math.max(1, width)) {
      if (width < 3) { push(i); if (width === 2 && i + 1 < end) push(i + 1); continue; }
      let least = -1, most = -1;
      for (let j = i; j < Math.min(end, i + width); j++) {
        if (levels[j] === 255) continue;
        if (least < 0 || levels[j] < levels[least]) least = j;
        if (most < 0 || levels[j] > levels[most]) most = j;
      }
      if (least < 0) push(i); else for (const j of least < most ? [least, most] : [most, least]) push(j);
    }
    return [x, y];
  };
  const lines = (columns) => {
    const made = [];
    if (view.signal) {
      const [x, y] = thin(view.signal, columns);
      made.push({ x, y, name: plain(view.signal.name), line: { color: "#5b6b78", width: 1 }, yaxis: "y2", mode: "lines", showlegend: false });
    }
    for (const density of view.densities) {
      const [x, y] = thin(density, columns);
      made.push({ x, y, name: `density ${plain(density.name)}`, line: { color: colourOf(density.name), width: 1.5 }, mode: "lines" });
    }
    return made;
  };

  const detected = (t) => {  // whether a detection at or above the threshold hits this event
    const { system, tolerance, threshold } = chosen();
    const row = system.found[tolerance * truth.time.length + t];
    return row !== nobody && system.score[row] >= threshold;
  };
  const shown = (seconds) => seconds >= view.from && seconds <= view.to;
  const column = (seconds, columns) => Math.floor((seconds - view.from) / (view.to - view.from) * columns);
  const secondsText = (seconds) => `${Math.abs(seconds).toPrecision(3)} s`;

  const truths = (columns) => {
    const missed = { x: [], y: [], text: [], name: "missed", mode: "markers", hoverinfo: "text+x", yaxis: "y3",
      marker: { symbol: "x", size: 9, color: "#b00020" } };
    const made = report.types.map((name, type) => {
      const x = [], y = [], seen = new Set();
      for (const t of view.truths) {
        if (truth.type[t] !== type || !shown(truth.time[t])) continue;
        const at = truth.time[t] / view.unit;
        if (!detected(t)) { missed.x.push(at); missed.y.push(0.985); missed.text.push(`missed ${plain(name)}`); }
        const place = column(truth.time[t], columns);
        if (seen.has(place)) continue;
        seen.add(place);
        x.push(at, at, null); y.push(0, 1, null);
      }
      return { x, y, name: `true ${plain(name)}`, mode: "lines", yaxis: "y3", hoverinfo: "x",
        line: { color: colours[type % colours.length], width: 1.5, dash: "dash" } };
    });
    return [...made, missed];
  };
  const marks = (columns) => {
    const { system, tolerance, threshold } = chosen();
    const matched = new Map();
    for (const t of view.truths) matched.set(system.found[tolerance * truth.time.length + t], t);
    return report.types.map((name, type) => {
      const best = new Map();  // the highest per pixel column, hits and false alarms separately
      for (const i of view.rows) {
        if (system.type[i] !== type || system.score[i] < threshold || !shown(system.time[i])) continue;
        const key = 2 * column(system.time[i], columns) + ((system.hits[i] >>> tolerance) & 1);
        if (!best.has(key) || system.score[i] > system.score[best.get(key)]) best.set(key, i);
      }
      const rows = [...best.values()];
      const say = (i) => {
        const t = matched.get(i);
        const late = t === undefined ? 0 : system.time[i] - truth.time[t];
        const how = t === undefined ? "false" : `correct, ${secondsText(late)} ${late < 0 ? "early" : "late"}`;
        return `detected ${plain(name)}, score ${system.score[i].toPrecision(4)}, ${how}`;
      };
      return { x: rows.map((i) => system.time[i] / view.unit), y: rows.map((i) => view.height(system.score[i])),
        text: rows.map(say), name: `detected ${plain(name)}`, mode: "markers", hoverinfo: "text+x",
        marker: { size: 10, color: colours[type % colours.length], line: { width: 1.5, color: colours[type % colours.length] },
          symbol: rows.map((i) => ((system.hits[i] >>> tolerance) & 1 ? "triangle-down" : "triangle-down-open")) } };
    });
  };
  const axis = { zeroline: false, gridcolor: "#e8edf1", exponentformat: "e" };
  const layout = () => ({
    margin: { l: 68, r: 16, t: 30, b: 44 }, hovermode: "closest", dragmode: touch ? false : "zoom", uirevision: "kept",
    font: { family: "system-ui, sans-serif", size: 12, color: "#1b2733" },
    xaxis: { ...axis, title: { text: `${view.unitName} from the start` }, range: [view.from / view.unit, view.to / view.unit], uirevision: ++drawn, anchor: "y" },
    yaxis: { ...axis, title: { text: "density, score" }, domain: [0, 0.52], rangemode: "tozero", fixedrange: true },
    yaxis2: { ...axis, title: { text: view.signal ? plain(view.signal.name) : "" }, domain: [0.58, 1], fixedrange: true, visible: !!view.signal },
    yaxis3: { domain: [0, view.signal ? 1 : 0.52], range: [0, 1], fixedrange: true, visible: false },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", font: { size: 11 } }, paper_bgcolor: "#fff", plot_bgcolor: "rgba(0,0,0,0)",
  });
  const draw = () => {
    frame = 0;
    if (!view) return;
    const columns = Math.max(300, plot.clientWidth);
    Plotly.react(plot, [...lines(columns), ...truths(columns), ...marks(columns)], layout(), settings);
    delete plot.dataset.pending;
    byId("shown").textContent = `${(view.from / view.unit).toFixed(2)} to ${(view.to / view.unit).toFixed(2)} ${view.unitName}`;
  };
  const redraw = () => {
    plot.dataset.pending = "true";
    if (!frame) frame = requestAnimationFrame(draw);
  };

  const whole = () => report.recordings[view.index].hours * 3600;
  const look = (from, to) => {  // within the recording, and never empty
    const width = Math.min(Math.max(to - from, whole() * 1e-6), whole());
    view.from = Math.min(Math.max(0, from), whole() - width);
    view.to = view.from + width;
    redraw();
  };
  const zoom = (factor) => {
    const middle = (view.from + view.to) / 2, half = (view.to - view.from) / 2 * factor;
    look(middle - half, middle + half);
  };
  const move = (share) => { const by = (view.to - view.from) * share; look(view.from + by, view.to + by); };
  const nextError = () => {
    const { system, tolerance, threshold } = chosen();
    const wrong = view.truths.filter((t) => !detected(t)).map((t) => truth.time[t]);
    for (const i of view.rows) if (system.score[i] >= threshold && !((system.hits[i] >>> tolerance) & 1)) wrong.push(system.time[i]);
    wrong.sort((a, b) => a - b);
    const reach = Math.min(whole() / 2, Math.max(4 * report.tolerances[tolerance], 30 * (view.densities[0]?.step || 0)));
    const after = view.at === undefined ? -1 : view.at;
    const at = wrong.find((time) => time > after) ?? wrong[0];
    if (at === undefined) { byId("shown").textContent = "no error at this threshold"; return; }
    view.at = at;
    look(at - reach, at + reach);
  };

  const show = async () => {
    plot.dataset.pending = "true";
    const index = +byId("recording").value;
    const item = report.recordings[index];
    const select = byId("channel");
    const names = item.signals.map((s) => s.name);
    const before = select.selectedOptions[0]?.text;
    select.replaceChildren(...(names.length ? names : ["none"]).map((name, i) => new Option(name, i)));
    if (names.includes(before)) select.value = names.indexOf(before);
    const curve = async (c) => ({ name: c.name, first: c.first, step: c.step, levels: await array(c.y),
      low: c.y.low, scale: (c.y.high - c.y.low) / 254 });
    const { system, place } = chosen();
    const signal = item.signals[+select.value];
    const [unit, unitName] = units.find(([, , longest]) => item.hours * 3600 < longest);
    const same = view && view.index === index;
    const made = { index, unit, unitName, from: same ? view.from : 0, to: same ? view.to : item.hours * 3600,
      signal: signal ? await curve(signal) : null,
      densities: await Promise.all(item.densities.filter((d) => d.system === place).map(curve)),
      rows: [], truths: [] };
    system.recording.forEach((r, i) => { if (r === index) made.rows.push(i); });
    truth.recording.forEach((r, t) => { if (r === index) made.truths.push(t); });
    const top = Math.max(0, ...made.densities.map((d) => d.low + 254 * d.scale));
    // Scores in another unit than the density (a rank, a difference) are scaled to its height.
    const best = system.score.reduce((a, b) => (Number.isFinite(b) && b > a ? b : a), 0);
    made.height = top > 0 && best > 0 && (best > 3 * top || best < top / 3)
      ? (s) => Math.min(s, best) / best * top : (s) => Math.min(s, best);
    view = made;
    draw();
  };

  const changed = (change) => {
    if (!view) return;
    const [from, to] = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (change["xaxis.autorange"]) look(0, whole());
    else if (from !== undefined) look(+from * view.unit, +to * view.unit);
  };
  const step = (by) => {
    const count = report.recordings.length;
    byId("recording").value = (+byId("recording").value + by + count) % count;
    return show();
  };
  const actions = { previous: () => step(-1), next: () => step(1), whole: () => look(0, whole()), closer: () => zoom(0.5),
    wider: () => zoom(2), earlier: () => move(-0.5), later: () => move(0.5), error: nextError };
  for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
  byId("recording").addEventListener("change", show);
  byId("channel").addEventListener("change", show);
  for (const button of document.querySelectorAll("button[data-recording]")) {
    button.addEventListener("click", () => {
      byId("recording").value = button.dataset.recording;
      show();
      byId("view").scrollIntoView();
    });
  }
  return { show, redraw, start: async () => { await show(); plot.on("plotly_relayout", changed); } };
};
