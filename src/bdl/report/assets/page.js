// The page: figures, scores at a threshold, and the view of one recording.
import { arrays, inflate } from "/embedded.js";
import { byId } from "/scene.js";
import { View } from "/view.js";

const report = JSON.parse(byId("report-data").textContent);

const script = document.createElement("script");
script.textContent = new TextDecoder().decode(await inflate(byId("plotly-source").textContent));
document.head.append(script);
// On a touch screen a drag scrolls the page; the view has buttons to zoom.
const touch = matchMedia("(pointer: coarse)").matches;
const settings = { responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
  modeBarButtonsToRemove: ["lasso2d", "select2d"] };
// Tool buttons stand in a column within the plot: above it they would cover the legend.
const modebar = { orientation: "v", bgcolor: "rgba(255,255,255,0.8)" };
// A figure with a long legend becomes higher, so that the plot keeps its size.
const room = (plot, figure) => {
  const names = figure.data.filter((trace) => trace.showlegend !== false).map((trace) => trace.name.length);
  const columns = Math.max(1, Math.floor((plot.clientWidth - 70) / (60 + 6 * Math.max(...names, 0))));
  plot.style.height = `${plot.clientHeight + 18 * Math.max(0, Math.ceil(names.length / columns) - 2)}px`;
};
for (const [id, figure] of Object.entries(report.figures)) {
  room(byId(`plot-${id}`), figure);
  Plotly.newPlot(`plot-${id}`, figure.data, { ...figure.layout, modebar, dragmode: touch ? false : "zoom" }, settings);
}

const systems = [];
for (const system of report.systems) systems.push({ name: system.name, ...await arrays(system.detections) });
const truth = await arrays(report.truth);
const options = (select, names) => names.forEach((name, i) => select.add(new Option(name, i)));
options(byId("system"), systems.map((s) => s.name));
options(byId("type"), ["all", ...report.types]);
options(byId("tolerance"), report.tolerances.map((t) => `${t} s`));
byId("tolerance").value = report.tolerance;

const chosen = () => {
  const place = +byId("system").value;
  return { system: systems[place], place, type: +byId("type").value - 1, tolerance: +byId("tolerance").value,
    threshold: byId("threshold").value === "" ? -Infinity : +byId("threshold").value };
};
const view = new View(report, truth, chosen);

const counted = (row, type) => type < 0 || row === type;
let ranked = [];  // scores of the selected system and type, rising
const rank = () => {
  const { system, type } = chosen();
  ranked = system.score.filter((_, i) => counted(system.type[i], type)).sort();
};
const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");
const rate = (value) => value.toFixed(value < 10 ? 3 : value < 1000 ? 1 : 0);
// The two ends of an interval are one alarm: an onset and the offset that follows it next.
const offsets = new Set(report.intervals.map(([, offset]) => offset));
const inTime = (system) => {
  const late = (i) => (offsets.has(system.type[i]) ? 0 : 1);
  return system.order ??= Uint32Array.from(system.time.keys()).sort((i, j) =>
    system.recording[i] - system.recording[j] || system.time[i] - system.time[j] || late(i) - late(j) || i - j);
};
const joined = (system, tolerance, threshold) => {  // false detections that are no alarms of their own
  let count = 0;
  for (const [onset, offset] of report.intervals) {
    let last = -1;
    for (const i of inTime(system)) {
      const type = system.type[i];
      if (system.score[i] < threshold || (type !== onset && type !== offset)) continue;
      if (type === offset && last >= 0 && system.type[last] === onset && system.recording[last] === system.recording[i])
        count += 1 - ((system.hits[i] & system.hits[last]) >>> tolerance & 1);
      last = i;
    }
  }
  return count;
};
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
  const alarms = kept - hits - (type < 0 ? joined(system, tolerance, threshold) : 0);
  byId("alarms-note").hidden = type >= 0 || !report.intervals.length;
  byId("out-alarms").textContent = report.days ? rate(alarms / report.days) : "–";
  const named = (id) => byId(id).selectedOptions[0].text;
  byId("chosen").textContent =
    `${named("system")}, events: ${named("type")}, tolerance ${named("tolerance")}, threshold ${byId("threshold").value || "none"}`;
  view.match();
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
const describeSlider = () => slider.setAttribute("aria-valuetext", `threshold ${byId("threshold").value || "none"}`);
const follow = () => { slider.value = 1000 * below(chosen().threshold) / Math.max(1, ranked.length); describeSlider(); };
slider.addEventListener("input", () => {
  const place = Math.floor(+slider.value / 1000 * ranked.length);
  const top = ranked.length ? ranked[ranked.length - 1] : 0;
  byId("threshold").value = place < ranked.length ? down(ranked[place]) : +(top + Math.abs(top) * 1e-3 + 1e-9).toPrecision(6);
  describeSlider();
  update();
});
byId("threshold").addEventListener("input", () => { follow(); update(); });
for (const id of ["system", "type"]) byId(id).addEventListener("change", () => { rank(); follow(); update(); });
byId("tolerance").addEventListener("change", update);
byId("system").addEventListener("change", () => view.show());

// Plotly does not adapt to the width of the paper.
const plots = () => document.querySelectorAll(".js-plotly-plot");
const paper = { width: 660, autosize: false }, screen = { width: undefined, autosize: true };
addEventListener("beforeprint", () => plots().forEach((plot) => Plotly.relayout(plot, paper)));
addEventListener("afterprint", () => plots().forEach((plot) => Plotly.relayout(plot, screen)));

rank();
byId("threshold").value = down(report.threshold);
follow();
await view.show();
update();
window.bdl = view;  // for tests and the console of the browser
document.body.dataset.ready = "true";
