// The review queue: one place after the other, one key each, and how many are left.
import { get } from "/api.js";
import { byId } from "/scene.js";

// What each kind means, where the label differs from the model and from another annotator.
const MODEL = {
  unsupported: "a label where the model expects nothing",
  unlabelled: "the model expects an event here, but there is no label",
  displaced: "label and model are at different times",
  uncertain: "a detection just below the cutoff, without a label",
};
const ANNOTATOR = { unsupported: "a label that is missing in", unlabelled: "no label, but an event in", displaced: "label at another time than in" };

export class Queue {
  constructor(app) {
    Object.assign(this, { app, items: [], at: -1 });
    byId("kind").replaceChildren(new Option("all kinds", ""), ...Object.keys(MODEL).map((kind) => new Option(kind, kind)));
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

  open() { const kind = byId("kind").value; return this.items.filter((item) => !item.verdict && (!kind || item.kind === kind)); }

  count() {
    const doubts = new Map();
    for (const { number, verdict, expected } of this.items) {
      if (verdict) continue;
      const { errors, mass } = doubts.get(number) ?? { errors: 0, mass: 0 };
      doubts.set(number, { errors: errors + 1, mass: mass + expected });
    }
    byId("left").textContent = `${this.open().length.toLocaleString("en")} left`;
    this.app.tell("doubts", doubts);
  }

  get item() { return this.items[this.at]; }

  async step(by) {
    const kind = byId("kind").value;
    for (let at = this.at + by; at >= 0 && at < this.items.length; at += by) {
      const item = this.items[at];
      if ((by < 0 || !item.verdict) && (!kind || item.kind === kind)) { this.at = at; return this.show(true); }
    }
    if (by > 0) { this.at = -1; this.show(); this.app.say(this.open().length ? "the end of the queue; next begins again" : "nothing is left to review"); }
    return undefined;
  }

  async show(go = false) {
    const { item } = this, model = item && item.model !== null;
    for (const id of ["accept", "reject", "move"]) byId(id).disabled = !item;
    byId("move").disabled = !model || item.label === null;
    if (!item) { byId("item").textContent = this.open().length ? "Press S to begin with the most likely error." : "Nothing is left to review."; return; }
    const { kind, source, event, recording, expected, verdict } = item, text = source === "model" ? `${MODEL[kind]} (expected mass ${expected.toFixed(2)})` : `${ANNOTATOR[kind]} “${source}”`;
    byId("item").textContent = `${kind}: ${text}. ${event} in ${recording}${verdict ? ` (decided: ${verdict})` : ""}`;
    if (!go) return;
    const times = [item.label, item.model].filter((time) => time !== null), middle = times.reduce((a, b) => a + b) / times.length;
    const row = this.app.session.recordings[item.number];
    const width = Math.min(row.seconds, Math.max(40 * this.app.session.tolerance, 4 * Math.abs(times[0] - times.at(-1))));
    if (await this.app.open(item.number, { at: middle, width })) {
      const label = this.label();
      this.app.cursor = item.model ?? item.label;
      this.app.select(label ? [label.id] : []);
      this.app.focusOn(times);
    }
  }

  label() {
    const { event, label } = this.item;
    return label === null ? null : this.app.events.labels.find((other) => other.event === event && Math.abs(other.time - label) < 1e-6) ?? null;
  }

  async decide(verdict) {
    const { item, app } = this;
    if (!item) { this.step(1); return; }
    if (!(await app.open(item.number)) || (verdict === "move" && byId("move").disabled)) return;
    const label = this.label(), at = item.model === null ? null : app.snapped(item.model);
    let changes = [];
    if (item.label === null) { if (verdict === "accept") changes = [[null, { event: item.event, time: at }]]; }
    else if (!label) app.say("the label has been edited since; only the verdict is kept");
    else if (verdict === "reject") changes = [[label, null]];
    else if (verdict === "move") changes = [[label, { time: at }]];
    if (await app.labels.edit(changes, { item: item.key, verdict })) await this.step(1);
  }
}
