// The review queue: one place after the other, one key each, and how many are left.
import { get } from "/api.js";
import { byId } from "/scene.js";

// What each kind means, where the label differs from the model and from another annotator.
const MODEL = {
  unsupported: "a label where the model expects nothing",
  unlabelled: "the model expects an event here, but there is no label",
  displaced: "label and model are at different times",
  uncertain: "a detection just below the threshold, without a label",
};
const ANNOTATOR = { unsupported: "a label that is missing in", unlabelled: "no label, but an event in", displaced: "label at another time than in" };

export class Queue {
  constructor(app) {
    Object.assign(this, { app, items: [], at: -1 });
    byId("kind").replaceChildren(...["", ...Object.keys(MODEL)].map((kind) => new Option(kind, kind)));
    byId("kind").addEventListener("change", () => { this.at = -1; this.count(); this.step(1); });
    app.on("edited", ({ review }) => {
      const item = review && this.items.find(({ key }) => key === review.item);
      if (item) { item.verdict = review.verdict; this.count(); }
    });
  }

  async load() {
    const { session } = this.app;
    if (!session.model && !session.others.length) return;
    const { items } = await get("/api/queue");
    this.items = items;
    byId("review").hidden = false;
    this.count();
    this.show();
  }

  open(kind = byId("kind").value) { return this.items.filter((item) => !item.verdict && (!kind || item.kind === kind)); }

  count() {
    for (const option of byId("kind").options) option.textContent = `${option.value || "all kinds"} (${this.open(option.value).length.toLocaleString("en")})`;
    const doubts = new Map();
    for (const { number, verdict, expected } of this.items) {
      if (verdict) continue;
      const { errors, mass } = doubts.get(number) ?? { errors: 0, mass: 0 };
      doubts.set(number, { errors: errors + 1, mass: mass + expected });
    }
    byId("left").textContent = `${this.open().length.toLocaleString("en")} left`;
    this.app.emit("doubts", doubts);
  }

  get item() { return this.items[this.at]; }

  async step(by) {
    const kind = byId("kind").value;
    for (let at = this.at + by; at >= 0 && at < this.items.length; at += by) {
      const item = this.items[at];
      if ((by < 0 || !item.verdict) && (!kind || item.kind === kind)) { this.at = at; return this.show(true); }
    }
    if (by > 0) { this.at = -1; this.app.focusOn(null); this.show(); this.app.say(this.open().length ? "the end of the queue; next begins again" : this.done); }
    return undefined;
  }
  get done() { const kind = byId("kind").value; return kind && this.open("").length ? `No item of kind ${kind} is left.` : "Nothing is left to review."; }

  // Seconds to show around times: as many as were chosen by zooming at an item, else some tolerances.
  width(times) {
    const { app, shown } = this, now = app.view.to - app.view.from;
    if (shown?.opened === app.opened && now !== app.info?.seconds && Math.abs(now / shown.width - 1) > 1e-6) this.chosen = now;
    return Math.max(this.chosen ?? 40 * app.session.tolerance, 4 * Math.abs(times[0] - times.at(-1)));
  }

  // Tell what the item is and, if wanted, go there. Returns whether it is there to be decided.
  async show(go = false) {
    const { item } = this, model = item && item.model !== null;
    for (const id of ["accept", "reject", "move"]) byId(id).disabled = !item;
    byId("move").disabled = !model || item.label === null;
    if (!item) { byId("item").textContent = this.open().length ? "Next (S) begins with the most likely error." : this.done; return false; }
    const { kind, source, event, recording, expected, verdict } = item, text = source === "model" ? `${MODEL[kind]} (likelihood of an error ${expected.toFixed(2)})` : `${ANNOTATOR[kind]} “${source}”`;
    byId("item").textContent = `${kind}: ${text}. ${event} in ${recording}${verdict ? ` (decided: ${verdict})` : ""}`;
    if (!go) return true;
    const times = [item.label, item.model].filter((time) => time !== null), middle = times.reduce((a, b) => a + b) / times.length;
    if (!(await this.app.open(item.number, { at: middle, width: this.width(times) }))) return false;
    const label = this.label();
    this.shown = { opened: this.app.opened, width: this.app.view.to - this.app.view.from };
    this.app.cursor = item.model ?? item.label;
    this.app.select(label ? [label.id] : []);
    this.app.focusOn(times);
    this.app.say(this.times(item));
    return true;
  }

  // When the label and the suggested event are, and how far apart.
  times({ label, model }) {
    const { clock } = this.app, apart = model - label, signed = `${Number(Math.abs(apart).toPrecision(3))} s ${apart < 0 ? "earlier" : "later"}`;
    return [label !== null && `label at ${clock.full(label)}`, model !== null && `suggested time ${clock.full(model)}${label === null ? "" : ` (${signed})`}`].filter(Boolean).join("; ");
  }

  // The label that the item is about: where it was or, once it is decided, where the verdict put it.
  label() {
    const { event, label, model, verdict } = this.item, at = verdict && model !== null ? this.app.snapped(model) : null;
    const find = (time) => (time === null ? undefined : this.app.events.labels.find((other) => other.event === event && Math.abs(other.time - time) < 1e-6));
    return find(label) ?? find(at) ?? null;
  }

  // What is decided must be in view: after a look elsewhere, the first key leads back to the item.
  inView({ number, label, model }) {
    const { place, info, view: { from, to } } = this.app, at = label ?? model;
    return place === number && info && at >= from && at <= to;
  }

  // Back to the item whose verdict was undone, so that the next key decides it again.
  async back({ review }) {
    const at = review ? this.items.findIndex(({ key }) => key === review.item) : -1;
    if (at >= 0) { this.at = at; await this.show(true); }
  }

  async decide(verdict) {
    const { item, app } = this;
    if (!item) { this.step(1); return; }
    if (verdict === "move" && byId("move").disabled) return;
    if (!this.inView(item)) { if (await this.show(true)) app.say(`back at the item: ${this.times(item)}`); return; }
    if (this.deciding) return;
    this.deciding = true;
    const label = this.label(), suggested = item.model === null ? null : app.snapped(item.model);
    const time = { accept: item.label ?? suggested, reject: null, move: suggested }[verdict];
    let changes = [];
    if (item.label !== null && !label && !item.verdict) app.say("the label has been edited since; only the verdict is kept");
    else if (time === null) changes = label ? [[label, null]] : [];
    else changes = [[label, { event: item.event, time }]];
    const entry = await app.labels.edit(changes, { item: item.key, verdict });
    this.deciding = false;
    if (entry) await this.step(1);
  }
}
