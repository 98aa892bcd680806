// One recording at a time: signals, density, true and detected events.
import { actogram } from "/actogram.js";
import { Clock } from "/clock.js";
import { Curves } from "/embedded.js";
import { gestures } from "/gestures.js";
import { bisect } from "/plot.js";
import { byId, moves, Scene } from "/scene.js";

const NOT_DETECTED = 0xffffffff, NEAR = 8;
// Channels that the page has no room for.
const undrawn = ({ undrawn: names = [] }) => (names.length ? `; not in this page: ${names.length > 6 ? `${names.length} further channels` : names.join(", ")}` : "");

export class View extends Scene {
  // `chosen()` gives system (and its place), tolerance and threshold of the page's controls.
  constructor(report, truth, chosen) {
    super();
    Object.assign(this, { report, truth, chosen, types: report.types, labelName: "events", turn: 0 });
    this.intervals = report.intervals.map(([onset, offset]) => ({ onset: report.types[onset], offset: report.types[offset] }));
    this.showLegend();
    actogram(this);
    gestures(this, { tap: (x) => { this.setCursor(this.plot.time(x)); this.point(x); }, wheel: (event) => event.ctrlKey });
    byId("plot").addEventListener("pointermove", (event) => { if (!event.buttons && this.info) this.point(event.offsetX); });
    const keys = Object.assign({}, ...moves(this).map(([, , own]) => own));
    for (const id of ["plot", "actogram"]) {
      byId(id).addEventListener("keydown", (event) => { if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); keys[event.key](); } });
    }
    const actions = { previous: () => this.step(-1), next: () => this.step(1), whole: () => this.whole(), closer: () => this.zoom(0.5),
      wider: () => this.zoom(2), earlier: () => this.pan(-0.5), later: () => this.pan(0.5), error: () => this.nextError() };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    for (const id of ["recording", "channel"]) byId(id).addEventListener("change", () => this.show());
    byId("search").addEventListener("input", () => this.search());
    for (const button of document.querySelectorAll("button[data-recording]")) {
      button.addEventListener("click", () => {
        byId("search").value = "";
        this.search();
        byId("recording").value = button.dataset.recording;
        this.show();
        byId("view").scrollIntoView();
      });
    }
    this.on("looked", () => { byId("shown").textContent = `${this.clock.full(this.view.from, 1)} to ${this.clock.full(this.view.to, 1)}${undrawn(this.info)}`; });
    this.search();
  }

  search() {
    const text = byId("search").value.toLowerCase(), select = byId("recording"), before = select.value;
    select.replaceChildren(...this.report.recordings.map(({ id }, i) => [id, i]).filter(([id]) => id.toLowerCase().includes(text)).map(([id, i]) => new Option(id, i)));
    if ([...select.options].some(({ value }) => value === before)) select.value = before; else if (select.options.length && before !== "") this.show();
  }
  step(by) {
    const select = byId("recording"), { length } = select.options;
    if (!length) return;
    select.selectedIndex = (select.selectedIndex + by + length) % length;
    this.show();
  }

  // Show the chosen recording, system and channel; the same recording stays where it is.
  async show() {
    const turn = ++this.turn, index = +byId("recording").value, item = this.report.recordings[index], { place } = this.chosen(), same = this.index === index;
    if (!same) this.offer(item.signals.map(({ name }) => name));
    const channel = byId("channel").value, drawn = item.signals.filter(({ name }) => !channel || name === channel), own = item.densities.filter(({ system }) => system === place);
    const [signals, densities] = await Promise.all([Curves.of(drawn), Curves.of(own)]);
    if (turn !== this.turn) return;
    if (!same) Object.assign(this, { cursor: null, focus: null, at: -1 });
    Object.assign(this, { index, signals, densities, clock: new Clock(item), shown: drawn.map((_, i) => i) });
    this.info = { ...item, channels: drawn.map(({ name }) => name), ranges: drawn.map(({ y: { low, high } }) => [low, high]),
      density: own.length ? { types: own.map(({ name }) => name), kind: own[0].kind, highest: own.map(({ y: { high } }) => high) } : null };
    this.match();
    this.emit("channels");
    this.emit("opened");
    if (same) this.look(this.view.from, this.view.to); else this.whole();
  }
  offer(names) {
    const select = byId("channel"), before = select.value;
    select.replaceChildren(new Option(names.length ? "all" : "none", ""), ...names.map((name) => new Option(name, name)));
    if (names.includes(before)) select.value = before;
  }

  // Events of the recording at the chosen threshold and tolerance, with what became of them.
  match() {
    if (!this.info) return;
    const { truth, report, index } = this, { system, tolerance, threshold } = this.chosen(), count = truth.time.length, byTime = (a, b) => a.time - b.time, late = new Map();
    const labels = [], detections = [];
    truth.recording.forEach((recording, t) => {
      if (recording !== index) return;
      const row = system.found[tolerance * count + t], hit = row !== NOT_DETECTED && system.score[row] >= threshold;
      if (hit) late.set(row, system.time[row] - truth.time[t]);
      labels.push({ event: report.types[truth.type[t]], time: truth.time[t], missed: !hit });
    });
    system.recording.forEach((recording, i) => {
      if (recording === index && system.score[i] >= threshold) detections.push({ event: report.types[system.type[i]], time: system.time[i], score: system.score[i], late: late.get(i), hollow: !late.has(i) });
    });
    this.events = { labels: labels.sort(byTime), detections: detections.sort(byTime), others: {} };
    this.version++;
    this.plot.redraw();
  }

  describe({ event, time, score, late, missed }) {
    const at = this.clock.full(time);
    if (score === undefined) return `${missed ? "missed" : "detected"}: true ${event} at ${at}`;
    const how = late === undefined ? "false" : `correct, ${Math.abs(late).toPrecision(3)} s ${late < 0 ? "early" : "late"}`;
    return `detection of ${event} at ${at}, score ${score.toPrecision(4)}, ${how}`;
  }

  // Say what is near a place in the figure.
  point(x) {
    const found = [this.events.labels, this.events.detections].map((layer) => {
      const after = bisect(layer, this.plot.time(x)), near = [layer[after - 1], layer[after]].filter(Boolean).map((mark) => [Math.abs(this.plot.x(mark.time) - x), mark]);
      return near.sort(([a], [b]) => a - b)[0];
    }).filter((mark) => mark && mark[0] <= NEAR).map(([, mark]) => this.describe(mark));
    if (found.length) this.say(found.join("; "));
  }

  nextError() {
    const wrong = [...this.events.labels.filter(({ missed }) => missed), ...this.events.detections.filter(({ hollow }) => hollow)].sort((a, b) => a.time - b.time);
    const error = wrong.find(({ time }) => time > this.at) ?? wrong[0];
    if (!error) { this.say("no error in this recording at this threshold"); return; }
    const reach = Math.min(this.info.seconds / 2, Math.max(4 * this.report.tolerances[this.chosen().tolerance], 30 * (this.densities?.step || 0)));
    this.at = this.cursor = error.time;
    this.center(error.time, 2 * reach);
    this.say(this.describe(error));
  }
}
