"use strict";
(async () => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);
  const colours = ["#0b5cad", "#b3430f", "#17713f", "#7a3e9d", "#946200", "#00707a"];
  // Plotly reads tags in texts, so names are escaped.
  const plain = (name) => name.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  const inflate = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  };
  const kinds = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  const array = async (packed) => new kinds[packed.kind](await inflate(packed.data));
  const arrays = async (table) => {
    const made = {};
    for (const [name, packed] of Object.entries(table)) made[name] = await array(packed);
    return made;
  };

  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await inflate(byId("plotly-source").textContent));
  document.head.append(script);
  // On a touch screen a drag scrolls the page; the view has buttons to zoom.
  const touch = matchMedia("(pointer: coarse)").matches;
  const settings = { responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
    modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  // A figure with a long legend becomes higher, so that the plot keeps its size.
  const room = (plot, figure) => {
    const names = figure.data.filter((trace) => trace.showlegend !== false).map((trace) => trace.name.length);
    const columns = Math.max(1, Math.floor((plot.clientWidth - 70) / (60 + 6 * Math.max(...names, 0))));
    plot.style.height = `${plot.clientHeight + 18 * Math.max(0, Math.ceil(names.length / columns) - 2)}px`;
  };
  for (const [id, figure] of Object.entries(report.figures)) {
    room(byId(`plot-${id}`), figure);
    Plotly.newPlot(`plot-${id}`, figure.data, { ...figure.layout, dragmode: touch ? false : "zoom" }, settings);
  }

  const systems = [];
  for (const system of report.systems) systems.push({ name: system.name, ...await arrays(system.detections) });
  const truth = await arrays(report.truth);
  const options = (select, names) => names.forEach((name, i) => select.add(new Option(name, i)));
  options(byId("system"), systems.map((s) => s.name));
  options(byId("type"), ["all", ...report.types]);
  options(byId("tolerance"), report.tolerances.map((t) => `${t} s`));
  options(byId("recording"), report.recordings.map((r) => r.id));
  byId("tolerance").value = report.tolerance;

  const chosen = () => {
    const place = +byId("system").value;
    return { system: systems[place], place, type: +byId("type").value - 1, tolerance: +byId("tolerance").value,
      threshold: byId("threshold").value === "" ? -Infinity : +byId("threshold").value };
  };
  const view = recordingView({ report, systems, truth, chosen, array, colours, plain, settings, touch });

  const counted = (row, type) => type < 0 || row === type;
  let ranked = [];  // scores of the selected system and type, rising
  const rank = () => {
    const { system, type } = chosen();
    ranked = system.score.filter((_, i) => counted(system.type[i], type)).sort();
  };
  const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");
  const short = (value) => value.toFixed(value < 10 ? 3 : value < 1000 ? 1 : 0);
  const update = () => {
    const { system, type, tolerance, threshold } = chosen();
    let kept = 0, hits = 0, events = 0;
    for (let i = 0; i < system.score.length; i++) {
      if (system.score[i] < threshold || !counted(system.type[i], type)) continue;
      kept += 1;
      hits += (system.hits[i] >>> tolerance) & 1;
    }
    for (const row of truth.type) events += counted(row, type) ? 1 : 0;
    byId("out-kept").textContent = kept;
    byId("out-hits").textContent = hits;
    byId("out-missed").textContent = events - hits;
    byId("out-false").textContent = kept - hits;
    byId("out-precision").textContent = share(hits, kept);
    byId("out-recall").textContent = share(hits, events);
    byId("out-f1").textContent = share(2 * hits, kept + events);
    byId("out-alarms").textContent = report.days ? short((kept - hits) / report.days) : "–";
    const named = (id) => byId(id).selectedOptions[0].text;
    byId("chosen").textContent =
      `${named("system")}, events: ${named("type")}, tolerance ${named("tolerance")}, threshold ${byId("threshold").value || "none"}`;
    view.redraw();
  };

  // Six digits, rounded down, so that the detection with this score stays above the threshold.
  const down = (value) => {
    if (!Number.isFinite(value)) return value > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE;
    const short = +value.toPrecision(6);
    return short <= value ? short : +(short - Math.abs(value) * 2e-6).toPrecision(6);
  };
  const below = (threshold) => {  // number of scores below the threshold
    let low = 0, high = ranked.length;
    while (low < high) { const middle = (low + high) >> 1; if (ranked[middle] < threshold) low = middle + 1; else high = middle; }
    return low;
  };
  // The slider moves through the ranks, so that each step changes the selection.
  const slider = byId("slider");
  const tell = () => slider.setAttribute("aria-valuetext", `threshold ${byId("threshold").value || "none"}`);
  const follow = () => { slider.value = 1000 * below(chosen().threshold) / Math.max(1, ranked.length); tell(); };
  slider.addEventListener("input", () => {
    const place = Math.floor(+slider.value / 1000 * ranked.length);
    const top = ranked.length ? ranked[ranked.length - 1] : 0;
    byId("threshold").value = place < ranked.length ? down(ranked[place]) : +(top + Math.abs(top) * 1e-3 + 1e-9).toPrecision(6);
    tell();
    update();
  });
  byId("threshold").addEventListener("input", () => { follow(); update(); });
  for (const id of ["system", "type"]) byId(id).addEventListener("change", () => { rank(); follow(); update(); });
  byId("tolerance").addEventListener("change", update);
  byId("system").addEventListener("change", view.show);

  // Plotly does not adapt to the width of the paper.
  const plots = () => document.querySelectorAll(".js-plotly-plot");
  const paper = { width: 660, autosize: false }, screen = { width: undefined, autosize: true };
  addEventListener("beforeprint", () => plots().forEach((plot) => Plotly.relayout(plot, paper)));
  addEventListener("afterprint", () => plots().forEach((plot) => Plotly.relayout(plot, screen)));

  rank();
  byId("threshold").value = down(report.threshold);
  follow();
  await view.start();
  update();
  document.body.dataset.ready = "true";
})();
