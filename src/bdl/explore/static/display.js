// Which channels are drawn, how large, and filtered how; seconds per page; labels in view.
import { get, post } from "/api.js";
import { bisect } from "/plot.js";
import { byId } from "/scene.js";

const MOST = 100;
const FILTERS = ["high_pass", "low_pass", "notch"];

export const display = (app) => {
  const changed = () => { app.makeTiles(); app.emit("channels"); note(); };
  const note = () => {
    const { cutoffs, filter, filters, highest } = app, refused = Object.keys(cutoffs).filter((name) => !filter[name]);
    const used = filters ? "filtered for display only" : "zoom in to see the filter: this view shows minima and maxima of the unfiltered samples";
    for (const name of FILTERS) byId(name).setAttribute("aria-invalid", refused.includes(name));
    byId("filter-note").textContent = [
      refused.length && `not used: ${refused.map((name) => name.replace("_", "-")).join(", ")}, which must be below ${Number(highest.toPrecision(4))} Hz, half the sampling rate`,
      Object.keys(filter).length && used,
    ].filter(Boolean).join("; ");
  };
  const channels = () => byId("channels").replaceChildren(...app.info.channels.map((name, channel) => {
    const item = document.createElement("li"), label = document.createElement("label"), box = document.createElement("input"), tools = document.createElement("span");
    label.className = "inline";
    box.type = "checkbox"; box.checked = app.shown.includes(channel);
    box.addEventListener("change", () => {
      app.shown = app.info.channels.map((_, i) => i).filter((i) => (i === channel ? box.checked : app.shown.includes(i)));
      changed();
    });
    label.append(box, name);
    for (const [sign, factor, what] of [["▾", 0.8, "Lower"], ["▴", 1.25, "Higher"]]) {
      const button = document.createElement("button");
      button.textContent = sign; button.setAttribute("aria-label", `${what} gain of ${name}`);
      button.addEventListener("click", () => { app.gains.set(channel, (app.gains.get(channel) ?? 1) * factor); app.plot.redraw(); });
      tools.append(button);
    }
    item.append(label, tools);
    return item;
  }));
  const page = () => { if (document.activeElement !== byId("page")) byId("page").value = Number((app.view.to - app.view.from).toPrecision(6)); };
  const labels = () => {
    if (!byId("labels-box").open || !app.events) return;
    const all = app.events.labels, first = bisect(all, app.view.from), end = bisect(all, app.view.to);
    const rows = all.slice(first, Math.min(end, first + MOST)).map(({ id, event, time, comment }) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.textContent = `${app.clock.full(time)}: ${event}${comment ? ` (${comment})` : ""}`;
      button.addEventListener("click", () => app.select([id]));
      item.append(button);
      return item;
    });
    if (end - first > MOST) { const more = document.createElement("li"); more.textContent = `${(end - first - MOST).toLocaleString("en")} more: zoom in`; rows.push(more); }
    byId("labels").replaceChildren(...rows);
  };
  for (const name of FILTERS) byId(name).addEventListener("change", () => {
    app.cutoffs = Object.fromEntries(FILTERS.filter((key) => +byId(key).value > 0).map((key) => [key, +byId(key).value]));
    if (app.info) changed();
  });
  byId("page").addEventListener("change", () => { const width = +byId("page").value; if (width > 0) app.look(app.view.from, app.view.from + width); });
  byId("labels-box").addEventListener("toggle", labels);
  app.on("opened", () => { channels(); app.emit("channels"); });
  app.on("looked", () => { page(); note(); });
  let timer = 0;
  app.on("drawn", () => { clearTimeout(timer); timer = setTimeout(labels, 120); });

  byId("annotator").value = localStorage.getItem("annotator") ?? "";
  byId("annotator").addEventListener("change", () => localStorage.setItem("annotator", byId("annotator").value));
  app.on("session", () => byId("format").replaceChildren(...app.session.formats.map((name) => new Option(name, name))));
  byId("export").addEventListener("click", async () => {
    try {
      const { table, log } = await post("/api/export", { format: byId("format").value });
      app.say(`written: ${table}, and its changes: ${log}`);
    } catch (error) { app.fail(error); }
  });
  byId("agreement-box").addEventListener("toggle", async () => {
    if (!byId("agreement-box").open) return;
    const { rows } = await get("/api/agreement"), names = ["first", "second", "event", "tolerance", "pairs", "F1", "bias", "median", "p95"], heads = [...names.slice(0, 3), "tolerance (s)", "pairs", "F1", "bias (s)", "median difference (s)", "95 % below (s)"];
    const table = document.createElement("table"), row = (values, tag) => { const line = document.createElement("tr"); for (const value of values) { const cell = document.createElement(tag); cell.textContent = typeof value === "number" ? Number(value.toPrecision(3)) : value ?? "–"; line.append(cell); } return line; };
    const head = table.createTHead(), body = table.createTBody();
    head.append(row(heads, "th"));
    body.append(...rows.map((values) => row(names.map((name) => values[name]), "td")));
    byId("agreement").replaceChildren(table);
  });
};
