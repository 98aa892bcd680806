// The drawing: stacked channels with shared time, density below, labels and detections across. Names and
// scales stand in a margin on the left, where they cover nothing.
import { Raster } from "/raster.js";

export const COLOURS = ["#0b5cad", "#b3530a", "#17713f", "#8a2a86", "#a3123a", "#00707a", "#6b5a00", "#4a4fb5"];
export const INK = "#33424f", SOFT = "#4a5a68", LINE = "#e3e9ee";
const RAIL = 20, AXIS = 24, DENSITY = 0.2, WIDEST = 8192, MARGIN = 0.22, MANY = 200, CROWD = 0.15, BEHIND = 0.15;

// First place in a list sorted by time that is not before a time.
export const bisect = (items, time) => {
  let low = 0, high = items.length;
  while (low < high) { const middle = (low + high) >> 1; if (items[middle].time < time) low = middle + 1; else high = middle; }
  return low;
};

// A number for the eye, such as the top of a scale.
const short = (value) => String(Number(value.toPrecision(3)));

export class Plot {
  constructor(box, scene) {
    this.box = box; this.scene = scene;
    this.canvas = box.querySelector("canvas");
    this.raster = new Raster();
    this.low = new Float32Array(2 * WIDEST); this.high = new Float32Array(2 * WIDEST);
    this.paired = new WeakMap();
    this.frame = this.drawn = this.left = this.wide = 0;
    new ResizeObserver(() => this.redraw()).observe(box);
  }

  redraw() { if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }

  get width() { return Math.max(1, this.wide - this.left); }  // of the time axis, as it was drawn
  x(time) { const { from, to } = this.scene.view; return this.left + (time - from) / (to - from) * this.width; }
  time(x) { const { from, to } = this.scene.view; return from + (x - this.left) / this.width * (to - from); }

  // Rails for labels, detections and other annotators on top, then channels, density, axis.
  layout() {
    const { info, events, shown, labelName } = this.scene, height = this.box.clientHeight;
    const rails = [{ name: labelName, layer: events?.labels, labels: true }];
    if (events?.detections) rails.push({ name: "detections", layer: events.detections, lines: true });
    for (const [name, layer] of Object.entries(events?.others ?? {})) rails.push({ name, layer });
    rails.forEach((rail, i) => { rail.top = i * RAIL; });
    const top = rails.length * RAIL + 4, bottom = height - AXIS;
    const density = info.density ? Math.max(46, (bottom - top) * (shown.length ? DENSITY : 1)) : 0;
    const lane = (bottom - top - density) / Math.max(1, shown.length);
    const lanes = shown.map((channel, i) => ({ channel, top: top + i * lane, height: lane }));
    return { rails, lanes, top, bottom, density: density && { top: bottom - density, height: density } };
  }

  draw() {
    const { scene } = this, begun = performance.now();
    this.wide = Math.min(WIDEST, this.box.clientWidth);
    if (!scene.info || !this.wide) return;
    this.places = this.layout();
    this.raster.begin(this.canvas, this.wide, this.box.clientHeight);
    const curves = this.curves();
    this.left = this.margin(this.raster.pen(), curves);
    const ticks = scene.clock.ticks(scene.view.from, scene.view.to, this.width);
    this.drawPixels(ticks, curves);
    this.drawShapes(this.raster.show(), ticks, curves);
    scene.signals?.load();
    scene.densities?.load();
    this.drawn++;
    this.spent = performance.now() - begun;
    scene.emit("drawn");
  }

  // What is drawn as a curve: where its values come from, its colour, and from a value to a height.
  curves() {
    const { info, signals, densities, gains, gain } = this.scene, { lanes, density } = this.places;
    const made = lanes.map(({ channel, top, height }, place) => {
      const [low, high] = info.ranges[channel], middle = this.scene.middle(channel), scale = height / (high - low) * 0.9 * gain * (gains.get(channel) ?? 1);
      const y = (value) => Math.min(top + height, Math.max(top, top + height / 2 - (value - middle) * scale));
      return { columns: signals, place, y, colour: INK, name: this.scene.channelName(channel), top, height, ends: [middle + height / 2 / scale, middle - height / 2 / scale] };
    });
    const { top, height } = density, highest = density && Math.max(...info.density.highest, 1e-9), name = info.density?.kind === "events" ? "density" : "probability";
    const y = (value) => top + height - 2 - Math.min(1, value / highest) * (height - 6);
    if (density) info.density.types.forEach((type, place) => made.push({ columns: densities, place, y, colour: this.scene.colour(type), base: top + height, top, height, ...(place ? {} : { name, ends: [highest] }) }));
    return made;
  }

  // Width of the names and scales, at most a share of the drawing.
  margin(context, curves) {
    const texts = [...this.places.rails, ...curves].flatMap(({ name, ends = [] }) => (name ? [name, ...ends.map(short)] : []));
    return Math.round(Math.min(MARGIN * this.wide, 14 + Math.max(...texts.map((text) => context.measureText(text).width))));
  }

  // Whether the samples lie so far apart that they are connected one by one.
  sparse({ columns }) { const { from, to } = this.scene.view; return (to - from) / columns.step / this.width < 0.7; }

  drawPixels(ticks, curves) {
    const { raster, wide, left, places: { top, bottom, lanes, rails } } = this, drawn = rails.filter(({ layer }) => layer);
    for (const rail of rails) raster.rect(left, rail.top, wide - left, RAIL - 2, "#f1f4f7");
    for (const rail of drawn) this.bands(rail.layer, rail.top, RAIL - 2, 0.35);
    for (const { at } of ticks) raster.rect(Math.round(this.x(at)), top, 1, 1, LINE);
    for (const [from, to] of this.outside()) raster.rect(from, top, to - from, 1, "#ebecee");
    if (drawn.length) this.bands(drawn[0].layer, top, 1, 0.1);
    for (const rail of drawn) rail.marks = this.marks(rail);
    const crowded = drawn.length > 0 && this.crowded(drawn[0].marks);
    if (crowded) for (const { x, colour } of drawn[0].marks) if (x >= left) raster.tint(x, top, 1, 1, colour, BEHIND);
    raster.repeat(top, bottom - top);
    for (const lane of lanes) raster.rect(0, lane.top + lane.height, wide, 1, LINE);
    for (const curve of curves) if (!this.sparse(curve)) this.trace(curve);
    for (const rail of drawn) this.lines(rail);
    raster.rect(left - 1, 0, 1, bottom, LINE);
  }

  trace({ columns, place, y, colour, base }) {
    const { view } = this.scene, { raster, low, high } = this;
    const begin = Math.round(this.left * raster.ratio), width = raster.width - begin;
    columns.columns(place, view.from, view.to, width, low, high);
    let before = NaN, after = NaN;
    for (let x = 0; x < width; x++) {
      if (low[x] !== low[x]) { before = NaN; continue; }
      const highest = y(high[x]), lowest = base ?? y(low[x]);
      let top = highest, bottom = lowest;
      if (before === before && base === undefined) { if (before > bottom) bottom = before; if (after < top) top = after; }
      raster.column(begin + x, top, bottom, colour);
      before = highest; after = lowest;
    }
  }

  polyline(context, { columns, place, y, colour }) {
    const { from, to } = this.scene.view, first = columns.place(from), last = columns.place(to), step = this.width / (last - first);
    context.strokeStyle = context.fillStyle = colour;
    context.beginPath();
    let pen = false;
    for (let i = Math.max(0, Math.floor(first) - 1); i <= Math.min(columns.samples - 1, Math.ceil(last) + 1); i++) {
      const value = columns.sample(place, i);
      if (value === null || value !== value) { pen = false; continue; }
      const x = this.left + (i - first) * step;
      if (pen) context.lineTo(x, y(value)); else context.moveTo(x, y(value));
      pen = true;
      if (step > 6) context.fillRect(x - 1.5, y(value) - 1.5, 3, 3);
    }
    context.stroke();
  }

  // Parts in view that are not annotated, or beyond the recording, in pixels.
  outside() {
    const { info, view } = this.scene, spans = info.annotated ?? [[0, info.seconds]], gaps = [];
    let at = view.from;
    for (const [from, to] of spans) { if (from > at) gaps.push([at, Math.min(from, view.to)]); at = Math.max(at, to); }
    if (at < view.to) gaps.push([at, view.to]);
    return gaps.filter(([a, b]) => b > a).map(([a, b]) => [this.x(a), this.x(b)]);
  }

  visible(items, margin = 0) { return [Math.max(0, bisect(items, this.scene.view.from) - margin), Math.min(items.length, bisect(items, this.scene.view.to) + margin)]; }

  drawShapes(context, ticks, curves) {
    const { cursor, focus } = this.scene, { wide, left, places: { rails, top, bottom } } = this;
    context.fillStyle = SOFT;
    for (const { name, top: above } of rails) this.name(context, name, above + 14);
    for (const { name, top: above, height, ends } of curves) if (name) this.scale(context, name, above, height, ends);
    for (const { at, text } of ticks) { const x = this.x(at) + 3; if (x + context.measureText(text).width <= wide) context.fillText(text, x, bottom + 16); }
    context.save();
    context.beginPath(); context.rect(left, 0, wide - left, bottom); context.clip();
    for (const curve of curves) if (this.sparse(curve)) this.polyline(context, curve);
    for (const rail of rails) if (rail.layer) this.events(context, rail);
    for (const time of focus ?? []) {
      context.strokeStyle = "#f2a900"; context.lineWidth = 2; context.strokeRect(this.x(time) - 7, top, 14, bottom - top); context.lineWidth = 1;
    }
    if (cursor !== null) { context.fillStyle = "#c8102e"; context.fillRect(Math.round(this.x(cursor)), 0, 1, bottom); }
    context.restore();
  }

  // A name in the margin, cut where it is too long.
  name(context, name, y) {
    let shown = name;
    const room = this.left - 8;
    if (context.measureText(name).width > room) for (shown = name.slice(0, 40); shown && context.measureText(`${shown}…`).width > room;) shown = shown.slice(0, -1);
    context.fillText(shown === name ? name : `${shown}…`, 4, y);
  }

  // The name of a curve in the middle of its lane, and the values at its top and bottom where there is room.
  scale(context, name, top, height, ends) {
    this.name(context, name, top + (height > 48 || ends.length > 1 ? height / 2 + 4 : height - 4));
    context.textAlign = "right";
    if (height > 48) ends.forEach((value, i) => context.fillText(short(value), this.left - 5, i ? top + height - 5 : top + 13));
    context.textAlign = "left";
  }

  // Intervals [onset type, start, end] of a layer, by end: from an onset to the next offset before another onset.
  intervals(layer) {
    const known = this.paired.get(layer);
    if (known?.version === this.scene.version) return known.bands;
    const bands = [];
    for (const { onset, offset } of this.scene.intervals) {
      let open = null;
      for (const { event, time, faint } of layer) {
        if (faint) continue;
        if (event === onset) open = time;
        else if (event === offset && open !== null) { bands.push({ onset, start: open, time }); open = null; }
      }
    }
    bands.sort((a, b) => a.time - b.time);
    this.paired.set(layer, { version: this.scene.version, bands });
    return bands;
  }

  bands(layer, top, height, alpha) {
    const bands = this.intervals(layer), { from, to } = this.scene.view;
    let last = -Infinity;
    for (let i = bisect(bands, from); i < bands.length; i++) {
      if (bands[i].start > to) { if (bands[i].start > to + this.longest(bands)) break; continue; }
      const a = Math.max(this.left, this.x(bands[i].start)), b = Math.min(this.wide, this.x(bands[i].time));
      if (b < last + 1) continue;
      this.raster.tint(a, top, b - a, height, this.scene.colour(bands[i].onset), alpha);
      last = b;
    }
  }

  longest(bands) { return (bands.longest ??= bands.reduce((most, band) => Math.max(most, band.time - band.start), 0)); }

  // Events in view, one per pixel and look. They are in order of time, so those of a pixel follow each other.
  marks({ layer, labels }) {
    const [first, end] = this.visible(layer), marks = [], looks = new Map(), chosen = labels ? this.scene.selected : new Set();
    let last = NaN;
    for (let i = first; i < end; i++) {
      const { id, event, time, hollow, missed, faint } = layer[i], x = Math.round(this.x(time)), look = 1 << ((hollow || missed ? 2 : 0) + (faint ? 1 : 0));
      if (x !== last) { looks.clear(); last = x; }
      const drawn = looks.get(event) ?? 0;
      if (drawn & look && !chosen.has(id)) continue;
      looks.set(event, drawn | look);
      marks.push({ ...layer[i], x, chosen: chosen.has(id), colour: this.scene.colour(event) });
    }
    return marks;
  }

  // So many marks that lines through the channels would hide what is in them.
  crowded(marks) { return marks.length > CROWD * this.width; }

  // What is straight of the marks: the lines of labels through all channels, those of detections through the density.
  // Lines that let the signal below them be seen; of a crowd, which stands behind the signals, only what is selected.
  lines(rail) {
    const { raster, wide, left, places: { bottom, density } } = this, crowded = this.crowded(rail.marks);
    const top = rail.labels ? rail.top : density?.top ?? bottom;
    for (const { x, chosen, missed, faint, colour } of rail.marks) {
      const lines = rail.labels ? chosen || !crowded : rail.lines && !faint && !crowded;
      if (lines) for (const at of chosen ? [x - 1, x, x + 1] : [x]) if (at >= left && at < wide) raster.tint(at, top, 1, bottom - top, colour, 0.6);
      if (rail.labels && !missed) { const begin = Math.max(left, x - 4); raster.rect(begin, rail.top, x + 5 - begin, chosen ? RAIL - 2 : 10, colour); }
    }
  }

  events(context, rail) {
    const { marks } = rail;
    this.typeNames(context, rail, marks.filter(({ faint }) => !faint));
    for (const { x, chosen, missed, hollow, faint, colour } of marks) {
      context.fillStyle = context.strokeStyle = colour;
      if (chosen) { context.strokeStyle = "#000"; context.strokeRect(x - 4.5, rail.top + 0.5, 10, RAIL - 3); }
      if (missed) this.cross(context, x, rail.top + 9);
      if (rail.labels) continue;
      context.globalAlpha = faint || 1;
      context.beginPath(); context.moveTo(x - 5, rail.top + 2); context.lineTo(x + 5, rail.top + 2); context.lineTo(x, rail.top + 14); context.closePath();
      if (hollow) context.stroke(); else context.fill();
      context.globalAlpha = 1;
    }
  }

  // The type beside a mark, where it fits before the next one.
  typeNames(context, rail, marks) {
    if (marks.length > MANY) return;
    context.fillStyle = INK;
    marks.forEach(({ x, event }, i) => { if (x + 10 + context.measureText(event).width < (marks[i + 1]?.x ?? this.wide + 4) - 4) context.fillText(event, x + 7, rail.top + 13); });
  }

  cross(context, x, y) {
    context.strokeStyle = "#b00020"; context.lineWidth = 2;
    context.beginPath(); context.moveTo(x - 5, y - 5); context.lineTo(x + 5, y + 5); context.moveTo(x - 5, y + 5); context.lineTo(x + 5, y - 5); context.stroke();
    context.lineWidth = 1;
  }
}
