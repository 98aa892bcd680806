// The picture of recordings of days: one row per day, once or twice, from noon or midnight.
import { INK, LINE, SOFT } from "/plot.js";
import { Raster } from "/raster.js";
import { byId } from "/scene.js";

const DAY = 86400, ROW = 34, TOP = 20, LONG = 1.5 * DAY, FULL = 0.95, ENOUGH = 20000;

export const actogram = (scene) => {
  const box = byId("actogram-box"), canvas = byId("actogram"), button = byId("actogram-button"), raster = new Raster();
  const low = new Float32Array(16384), high = new Float32Array(16384);
  let rows = [], frame = 0;
  const on = () => !box.hidden;
  const redraw = () => { if (on() && !frame) frame = requestAnimationFrame(() => { frame = 0; draw(); }); };
  const from = () => (scene.clock.known ? +byId("day").value * 3600 : 0);
  const days = () => (byId("double").checked ? 2 : 1);
  const left = () => (scene.clock.known ? 106 : 50);
  const wide = () => Math.min(8192, canvas.clientWidth - left());

  const layout = () => {
    const { clock, info } = scene, first = Math.floor((clock.local(0) - from()) / DAY) * DAY + from(), last = clock.local(info.seconds);
    rows = [];
    for (let local = first; local < last; local += DAY) rows.push(clock.fromLocal(local));
  };
  const draw = () => {
    const { info, clock, events } = scene;
    if (!on() || !info || !events) return;
    layout();
    const height = TOP + rows.length * ROW + 6, span = days() * DAY, hours = [], least = 45 / wide() * days() * 24;
    const step = [1, 2, 3, 6, 12].find((hour) => hour >= least) ?? 24;
    for (let hour = 0; hour <= days() * 24; hour += step) hours.push([left() + hour / (days() * 24) * wide(), (hour + from() / 3600) % 24]);
    canvas.style.height = `${height}px`;
    raster.begin(canvas, canvas.clientWidth, height);
    for (const [x] of hours) raster.rect(x, TOP, 1, height - TOP, LINE);
    traces(span);
    const context = raster.show();
    context.fillStyle = SOFT;
    for (const [x, hour] of hours.slice(0, -1)) context.fillText(`${String(hour).padStart(2, "0")}:00`, x + 2, 14);
    const labels = scene.plot.intervals(events.labels), detected = events.detections ? scene.plot.intervals(events.detections) : [];
    rows.forEach((start, i) => {
      const top = TOP + i * ROW, bottom = top + ROW - 5;
      const part = (begin, end) => { const a = Math.max(0, (begin - start) / span), b = Math.min(1, (end - start) / span); return b > a ? [left() + a * wide(), Math.max(1, (b - a) * wide())] : null; };
      const bands = (list, y, tall, alpha) => {
        context.globalAlpha = alpha;
        for (const { onset, start: begin, time } of list) { const place = part(begin, time); if (place) { context.fillStyle = scene.colour(onset); context.fillRect(place[0], y, place[1], tall); } }
        context.globalAlpha = 1;
      };
      context.fillStyle = SOFT; context.fillText(clock.known ? clock.date(start + 1) : `day ${i + 1}`, 2, bottom - 8);
      bands(labels, top, ROW - 5, 0.25);
      bands(detected, bottom - 4, 4, 0.8);
      const place = part(scene.view.from, scene.view.to);
      if (place && scene.view.to - scene.view.from < info.seconds) { context.strokeStyle = "#c8102e"; context.strokeRect(place[0], top + 0.5, Math.max(2, place[1]), ROW - 4); }
    });
    scene.signals?.load();
    canvas.dataset.rows = rows.length;
  };
  // Activity of each row by column: the value itself if it is never negative, else its range.
  const activity = (span) => {
    const { info, signals, shown } = scene, place = +byId("actogram-channel").value || 0, columns = Math.floor(wide() * raster.ratio);
    if (!signals || shown[place] === undefined) return [];
    const negative = info.ranges[shown[place]][0] < 0;
    return rows.map((start) => {
      signals.columns(place, start, start + span, columns, low, high);
      return Float32Array.from({ length: columns }, (_, x) => { const time = start + x / columns * span; return time < 0 || time > info.seconds ? NaN : negative ? high[x] - low[x] : high[x]; });
    });
  };
  // The activity that fills a row: that of the most active twentieth, since peaks are far above the rest of a day.
  const fullRow = (days) => {
    const every = Math.max(1, Math.ceil(days.length * (days[0]?.length ?? 0) / ENOUGH)), values = [];
    for (const day of days) for (let x = 0; x < day.length; x += every) if (day[x] === day[x]) values.push(day[x]);
    const sorted = Float32Array.from(values).sort();
    return (sorted[Math.floor(FULL * sorted.length)] || sorted.at(-1) || 1) / scene.gain;
  };
  const traces = (span) => {
    const days = activity(span), full = fullRow(days), begin = Math.round(left() * raster.ratio);
    rows.forEach((_, i) => {
      const bottom = TOP + i * ROW + ROW - 5;
      raster.rect(left(), bottom, wide(), 1, LINE);
      days[i]?.forEach((value, x) => { if (value === value) raster.column(begin + x, bottom - Math.min(1, value / full) * (ROW - 8), bottom, INK); });
    });
  };
  const go = (start, share) => {
    const at = start + share * days() * DAY;
    scene.center(Math.min(Math.max(0, at), scene.info.seconds), Math.min(scene.view.to - scene.view.from, 4 * 3600));
    scene.setCursor(at);
    byId("plot").focus({ preventScroll: true });
    byId("plot").scrollIntoView({ block: "nearest" });
  };
  canvas.addEventListener("click", (event) => {
    const place = canvas.getBoundingClientRect(), row = rows[Math.floor((event.clientY - place.top - TOP) / ROW)], share = (event.clientX - place.left - left()) / wide();
    if (row !== undefined && share >= 0 && share <= 1) go(row, share);
  });
  const show = () => { box.hidden = button.hidden || button.getAttribute("aria-pressed") !== "true"; redraw(); };
  button.addEventListener("click", () => {
    if (button.hidden) return;
    button.setAttribute("aria-pressed", String(!on()));
    show();
    draw();
    if (on()) box.scrollIntoView({ block: "nearest" });
  });
  for (const id of ["day", "double", "actogram-channel"]) byId(id).addEventListener("change", redraw);
  scene.on("opened", () => { byId("day").closest("label").hidden = !scene.clock.known; button.hidden = scene.info.seconds < LONG; show(); });
  // The chosen channel stays; at first it is one that is never negative, as measures of activity are.
  scene.on("channels", () => {
    const select = byId("actogram-channel"), { info: { channels, ranges }, shown } = scene, before = select.selectedOptions[0]?.text;
    const kept = shown.findIndex((channel) => channels[channel] === before), active = shown.findIndex((channel) => ranges[channel][0] >= 0);
    select.replaceChildren(...shown.map((channel, i) => new Option(channels[channel], i)));
    select.value = Math.max(0, kept >= 0 ? kept : active);
  });
  scene.on("drawn", redraw);
};
