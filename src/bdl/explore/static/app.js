// The application: what is open, what is in view, what is selected, and what can be done with it.
import { get } from "/api.js";
import { Clock } from "/clock.js";
import { Labels } from "/labels.js";
import { bisect } from "/plot.js";
import { byId, Scene } from "/scene.js";
import { Tiles } from "/tiles.js";

export class App extends Scene {
  constructor() {
    super();
    Object.assign(this, { session: null, opened: 0, cutoffs: {}, labels: new Labels(this) });
  }

  async start() {
    this.session = await get("/api/session");
    this.types = [...this.session.types];
    this.intervals = this.session.intervals;
    this.labels.remember(this.session);
    this.showTypes();
    const [first] = this.intervals;  // an interval begins with its onset
    if (this.types.includes(first?.onset)) byId("type").value = first.onset;
    for (const note of this.session.notes) this.say(note);
    this.emit("session");
    if (this.session.recordings.length) await this.open(0); else this.message("there are no recordings", true);
    setInterval(() => { if (!document.hidden) this.labels.poll().catch((error) => this.fail(error)); }, 2000);
  }

  showTypes() {
    const chosen = byId("type").value;
    byId("type").replaceChildren(...this.types.map((name) => new Option(name, name)));
    if (this.types.includes(chosen)) byId("type").value = chosen;
    this.showLegend();
  }

  // Open a recording by its place in the list; waits for its index. Returns whether it is open.
  async open(place, { at = null, width = null } = {}) {
    if (place === this.place && this.info && this.events) { if (at !== null) this.center(at, width); return true; }
    const turn = ++this.opened, row = this.session.recordings[place];
    Object.assign(this, { place, info: null, events: null, focus: null, cursor: null, version: this.version + 1 });
    this.selected.clear();
    byId("title").textContent = row.id;
    this.plot.box.classList.add("closed");
    this.message("opening …");
    this.emit("opening", place);
    try {
      let [info, events] = await Promise.all([get(`/api/recordings/${place}`), this.labels.load(place)]);
      const waited = info.indexing !== undefined;
      while (info.indexing !== undefined) {
        if (turn !== this.opened) return false;
        this.message(`building the index, once for this recording: ${Math.round(100 * info.indexing)} %`);
        await new Promise((done) => { setTimeout(done, 250); });
        info = await get(`/api/recordings/${place}`);
      }
      if (waited) events = await this.labels.load(place);  // they may have been edited meanwhile
      if (turn !== this.opened) return false;
      this.info = info;
      this.events = events;
    } catch (error) {
      if (turn === this.opened) this.message(error.message, true);
      return false;
    }
    this.clock = new Clock(this.info);
    const kept = this.shown.filter((channel) => channel < this.info.channels.length);
    const same = kept.length && JSON.stringify(this.names) === JSON.stringify(this.info.channels);
    this.names = this.info.channels;
    if (!same) { this.shown = this.info.channels.map((_, i) => i).slice(0, 12); this.gains.clear(); }
    this.makeTiles();
    this.plot.box.classList.remove("closed");
    this.message("");
    this.emit("opened");
    if (at === null) this.whole(); else this.center(at, width);
    return true;
  }

  makeTiles() {
    const { info, place, session: { tile: width } } = this, changed = (error) => { if (error) this.fail(error); this.message(""); this.plot.redraw(); };
    const query = new URLSearchParams({ channels: this.shown.join(","), ...this.filter });
    this.signals = new Tiles({ base: `/api/recordings/${place}/tiles`, query: `?${query}`, samples: info.samples, levels: info.levels, width, first: 0, step: info.period }, changed);
    if (info.density && this.densityPlace !== place) {
      const { bins, levels, first, step } = info.density;
      this.densities = new Tiles({ base: `/api/recordings/${place}/density`, samples: bins, levels, width, first, step }, changed);
    }
    this.densityPlace = info.density ? place : null;
    this.plot.redraw();
    const { signals } = this;
    setTimeout(() => { if (signals === this.signals && signals.running && ![...signals.tiles.values()].some(Boolean)) this.message("loading …"); }, 300);
  }

  async reload() {
    this.events = await this.labels.load(this.place);
    await this.labels.poll();
    this.version++;
    this.select([]);
  }

  // Cutoffs in hertz by filter, of those that were given the ones that the sampling rate allows.
  get filter() { return Object.fromEntries(Object.entries(this.cutoffs).filter(([, cutoff]) => cutoff < this.highest)); }
  get highest() { return 0.5 / this.info.period; }
  // Whether the view is so close that filters are seen; a high-pass takes the level away.
  get filters() { return (this.view.to - this.view.from) / this.info.period / this.plot.raster.width < 4 ** (this.session.filtered + 1); }
  middle(channel) { return this.filter.high_pass && this.filters ? 0 : super.middle(channel); }

  // On a sample, if that is wanted, and within the recording.
  snapped(time) {
    const { samples, period, seconds } = this.info, limited = Math.min(Math.max(0, time), seconds);
    if (!byId("snap").checked) return limited;
    return Math.min(samples - 1, Math.max(0, Math.round(limited / period))) * period;
  }
  setCursor(time) { super.setCursor(this.snapped(time)); }

  select(ids) {
    this.selected = new Set(ids);
    const labels = this.chosen();
    if (labels.length) this.say(`selected: ${this.named(labels)}`);
    this.emit("selected");
    this.plot.redraw();
  }
  named(labels) { return [...labels].sort((a, b) => a.time - b.time).map(({ event, time, comment }) => `${event} at ${this.clock.full(time)}${comment ? `, “${comment}”` : ""}`).join("; "); }
  chosen() { return this.events ? [...this.selected].map((id) => this.labels.find(id)).filter(Boolean) : []; }

  selectNext(by) {
    const { labels } = this.events ?? { labels: [] };
    if (!labels.length) return;
    const now = this.chosen()[0], at = now ? labels.indexOf(now) + by : bisect(labels, this.cursorInView()) - (by < 0 ? 1 : 0);
    const label = labels[Math.min(Math.max(0, at), labels.length - 1)];
    this.cursor = label.time;
    this.select([label.id]);
    if (label.time < this.view.from || label.time > this.view.to) this.center(label.time);
  }

  // One sample, or some pixels, earlier or later: the selected labels, or the cursor.
  async nudge(by, far) {
    const step = by * (far ? Math.max(this.info.period, (this.view.to - this.view.from) / this.plot.width * 10) : this.info.period);
    const labels = this.chosen();
    if (!labels.length) { this.setCursor(this.cursorInView() + step); return; }
    // A refused edit leaves its reason in the status line, which a selection would replace.
    const entry = await this.labels.edit(labels.map((label) => [label, { time: this.snapped(label.time + step) }]));
    if (entry) this.select(labels.map(({ id }) => id));
  }

  async add(time = this.cursorInView()) {
    const event = byId("type").value;
    if (!event) { this.say("make an event type first: New type"); return; }
    const entry = await this.labels.edit([[null, { event, time: this.snapped(time) }]]);
    if (entry) this.select(entry.changes.map(({ id }) => id));
  }

  intervalType() {
    const { intervals } = this, event = byId("type").value;
    return intervals.find(({ onset, offset }) => onset === event || offset === event) ?? intervals[0];
  }
  async addInterval(from, to) {
    const type = this.intervalType();
    if (!type) { this.say("there is no interval type: give one with --interval when you start"); return; }
    const ends = [this.snapped(from), this.snapped(to)];
    const entry = await this.labels.edit([[null, { event: type.onset, time: ends[0] }], [null, { event: type.offset, time: ends[1] }]]);
    if (entry) this.select(entry.changes.map(({ id }) => id));
  }
  // By keys: the first call marks where the interval begins, the second ends it.
  async markInterval() {
    if (this.begun === undefined || this.begun.place !== this.place) {
      this.begun = { place: this.place, at: this.cursorInView() };
      this.focusOn([this.begun.at]);
      this.say(`an interval begins at ${this.clock.full(this.begun.at)}; move the cursor and press I again`);
      return;
    }
    const ends = [this.begun.at, this.cursorInView()].sort((a, b) => a - b);
    this.begun = undefined;
    this.focusOn(null);
    await this.addInterval(...ends);
  }

  async remove() {
    const labels = this.chosen();
    if (!(await this.labels.edit(labels.map((label) => [label, null])))) return;
    this.select([]);
    this.say(`deleted: ${this.named(labels)}; undo brings it back`);
  }
  async retype() {
    const labels = this.chosen(), event = byId("type").value, type = this.intervals.find(({ onset, offset }) => onset === event || offset === event);
    const ends = labels.length === 2 && type ? [type.onset, type.offset] : null;
    const ordered = [...labels].sort((a, b) => a.time - b.time);
    const entry = await this.labels.edit(ordered.map((label, i) => [label, { event: ends ? ends[i] : event }]));
    if (entry) this.select(labels.map(({ id }) => id));
  }
  selectInterval() {
    const [label] = this.chosen(), other = label && this.labels.partner(label);
    if (other) this.select([label.id, other.id]);
  }

  // Go to the place of an edit that was undone or redone, and say what happened there.
  async showEdit({ changes }, what) {
    if (!changes.length) { this.say(`${what}: a verdict`); return; }
    const labels = changes.map(({ before, after }) => after ?? before), { recording, time } = labels[0], ids = changes.filter(({ after }) => after).map(({ id }) => id);
    const place = this.session.recordings.findIndex(({ id }) => id === recording), { from, to } = this.view;
    if (place !== this.place) { if (!(await this.open(place, { at: time, width: to - from }))) return; }
    else if (time < from || time > to) this.center(time);
    this.select(ids);
    this.say(`${what}: ${this.named(labels)}`);
  }

  edited(entry) {
    this.version++;
    for (const { after } of entry.changes) if (after && !this.types.includes(after.event)) { this.types.push(after.event); this.showTypes(); }
    this.emit("edited", entry);
    this.plot.redraw();
  }
  journalChanged(tableChanged) {
    byId("undo").disabled = this.labels.undoable === null;
    byId("redo").disabled = this.labels.redoable === null;
    byId("banner").hidden = !tableChanged;
    if (tableChanged) byId("banner").textContent = "The table of labels has changed on disk since it was opened. Edits are kept in the journal, but nothing can be exported: restore the table, or start again with another journal.";
  }

  fail(error) { this.say(error.message); }
  message(text, error = false) { byId("message").textContent = text; byId("message").classList.toggle("error", error); }
}
