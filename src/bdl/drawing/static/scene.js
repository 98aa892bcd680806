// What is drawn of a recording, which part of it is in view, and moving through it.
import { COLOURS, Plot } from "/plot.js";

export const byId = (id) => document.getElementById(id);

export class Scene {
  // info: id, seconds, period, channels, units by channel, ranges, annotated, density (types, kind, highest) or null.
  // events: labels, detections or null, and others by name, each a list by time of
  // { event, time } with optional id, faint (an opacity), hollow and missed. signals and densities: Columns.
  constructor() {
    Object.assign(this, { info: null, events: null, clock: null, signals: null, densities: null, types: [], intervals: [], labelName: "labels",
      view: { from: 0, to: 1 }, cursor: null, focus: null, selected: new Set(), shown: [], gains: new Map(), gain: 1, version: 0, listeners: {} });
    this.plot = new Plot(byId("plot"), this);
  }

  on(event, act) { (this.listeners[event] ??= []).push(act); }
  emit(event, ...values) { for (const act of this.listeners[event] ?? []) act(...values); }

  channelName(channel) { const name = this.info.channels[channel], unit = this.info.units[name]; return unit ? `${name} (${unit})` : name; }

  // Value in the middle of a channel's lane.
  middle(channel) { const [low, high] = this.info.ranges[channel]; return (low + high) / 2; }
  colour(event) { const place = this.types.indexOf(event); return COLOURS[(place < 0 ? this.types.length : place) % COLOURS.length]; }
  showLegend() {
    byId("legend").replaceChildren(...this.types.map((name) => {
      const entry = document.createElement("span"), mark = document.createElement("i");
      mark.style.background = this.colour(name);
      entry.append(mark, name);
      return entry;
    }));
  }

  // Show a part of the recording: within it, and never less than a few samples.
  look(from, to) {
    if (!this.info) return;
    const whole = Math.max(this.info.seconds, this.info.period), width = Math.min(Math.max(to - from, 8 * this.info.period), whole);
    const begin = Math.min(Math.max(0, from), whole - width);
    this.view = { from: begin, to: begin + width };
    this.plot.redraw();
    this.emit("looked");
  }
  whole() { this.look(0, this.info?.seconds); }
  pan(share) { const by = (this.view.to - this.view.from) * share; this.look(this.view.from + by, this.view.to + by); }
  zoom(factor, around = this.cursorInView()) {
    const { from, to } = this.view, width = Math.min((to - from) * factor, this.info?.seconds ?? 1), part = (around - from) / (to - from);
    this.look(around - part * width, around + (1 - part) * width);
  }
  center(at, width = null) { const half = (width ?? this.view.to - this.view.from) / 2; this.look(at - half, at + half); }
  scale(factor) { this.gain *= factor; this.plot.redraw(); }

  cursorInView() { const { from, to } = this.view; return this.cursor !== null && this.cursor >= from && this.cursor <= to ? this.cursor : (from + to) / 2; }
  setCursor(time) { this.cursor = Math.min(Math.max(0, time), this.info.seconds); this.say(`cursor at ${this.clock.full(this.cursor)}`); this.plot.redraw(); }
  focusOn(times) { this.focus = times; this.plot.redraw(); }
  say(text) { byId("status").textContent = text; }
}

// Keys that move through a recording: name, what it does, and what to call.
export const moves = (scene) => [
  ["← →", "pan by a quarter", { ArrowLeft: () => scene.pan(-0.25), ArrowRight: () => scene.pan(0.25) }],
  ["Page Up, Page Down", "one page", { PageUp: () => scene.pan(-1), PageDown: () => scene.pan(1) }],
  ["Home, End", "start, end", { Home: () => scene.look(0, scene.view.to - scene.view.from), End: () => scene.look(scene.info.seconds - (scene.view.to - scene.view.from), scene.info.seconds) }],
  ["+ −", "zoom around the cursor", { "+": () => scene.zoom(0.5), "=": () => scene.zoom(0.5), "-": () => scene.zoom(2) }],
  ["0", "the whole recording", { 0: () => scene.whole() }],
  ["↑ ↓", "gain", { ArrowUp: () => scene.scale(1.25), ArrowDown: () => scene.scale(0.8) }],
];
