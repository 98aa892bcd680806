// Every action has a key; the list of keys is made from the same table.
import { byId, moves } from "/scene.js";

const ALWAYS = [..."sd[]?", "skip", "back", "help"];  // lead elsewhere, also from a recording that cannot be opened
const ONCE = [..."armeitc"];  // decide or change something: a key that is held down does it once

export const keys = (app, queue, ask) => {
  const comment = async () => {
    const [label] = app.chosen();
    if (!label) { app.say("select a label first"); return; }
    const text = await ask("Comment", label.comment);
    if (text !== null && await app.labels.edit([[label, { comment: text }]])) app.select([label.id]);
  };
  const newType = async () => {
    const name = (await ask("Name of the event type", ""))?.trim();
    if (!name) return;
    if (!app.types.includes(name)) app.types.push(name);
    app.showTypes();
    byId("type").value = name;
  };
  const step = async (which) => {
    const entry = await app.labels.step(which);
    if (!entry) return;
    if (which === "undo") await queue.back(entry);
    await app.showEdit(entry, which === "undo" ? "undone" : "redone");
  };
  const actions = [
    ...moves(app),
    [", .", "cursor, or selected labels, by one sample", { ",": () => app.nudge(-1, false), ".": () => app.nudge(1, false) }],
    ["< >", "the same by ten pixels", { "<": () => app.nudge(-1, true), ">": () => app.nudge(1, true) }],
    ["N, B", "next, previous label", { n: () => app.selectNext(1), b: () => app.selectNext(-1) }],
    ["W", "select the whole interval of a label", { w: () => app.selectInterval() }],
    ["E", "add an event at the cursor", { e: () => app.add() }],
    ["I, I", "add an interval: its start, then its end", { i: () => app.markInterval() }],
    ["Delete", "delete what is selected", { Delete: () => app.remove(), Backspace: () => app.remove() }],
    ["T", "change the type of what is selected", { t: () => app.retype() }],
    ["C", "comment on what is selected", { c: comment }],
    ["Ctrl+Z or U, Ctrl+Y or Y", "undo, redo", { u: () => step("undo"), y: () => step("redo") }],
    ["[ ]", "previous, next recording of the list", { "[": () => app.emit("step", -1), "]": () => app.emit("step", 1) }],
    ["A, R, M", "review: event here, no event, at the suggested time", { a: () => queue.decide("accept"), r: () => queue.decide("reject"), m: () => queue.decide("move") }],
    ["S, D", "review: next, previous item", { s: () => queue.step(1), d: () => queue.step(-1) }],
    ["G", "actogram", { g: () => byId("actogram-button").click() }],
    ["Escape", "select nothing", { Escape: () => { app.begun = undefined; app.focusOn(null); app.select([]); } }],
    ["?", "this list", { "?": () => byId("keys").showModal() }],
  ];
  const mouse = [
    ["wheel, pinch", "zoom; with Shift the wheel pans"],
    ["drag", "pan, or move a label or, in the top rail, an interval"],
    ["Shift+drag", "add an interval"],
    ["double click", "add an event"],
  ];
  const table = Object.assign({}, ...actions.map(([, , own]) => own));
  byId("key-list").replaceChildren(...[...actions, ...mouse].flatMap(([name, what]) => {
    const term = document.createElement("dt"), text = document.createElement("dd"), key = document.createElement("kbd");
    key.textContent = name; term.append(key); text.textContent = what;
    return [term, text];
  }));
  document.addEventListener("keydown", (event) => {
    const { target } = event, dialog = document.querySelector("dialog[open]"), typing = target.matches("input:not([type=checkbox]), select, textarea");
    // Out of a field, so that the keys act again.
    if (typing && !dialog && (event.key === "Escape" || (event.key === "Enter" && ["page", "annotator"].includes(target.id)))) { byId("plot").focus({ preventScroll: true }); return; }
    if (typing || dialog || (!app.info && !ALWAYS.includes(event.key.toLowerCase())) || event.altKey || event.metaKey) return;
    if (event.ctrlKey) {
      const which = event.key === "z" && !event.shiftKey ? "undo" : event.key === "y" || event.key.toLowerCase() === "z" ? "redo" : null;
      if (which) { event.preventDefault(); step(which); }
      return;
    }
    if (target.matches("button, summary") && [" ", "Enter"].includes(event.key)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, act = table[key];
    if (act) { event.preventDefault(); if (!event.repeat || !ONCE.includes(key)) act(); }
  });
  const buttons = {
    earlier: () => app.pan(-0.5), later: () => app.pan(0.5), wider: () => app.zoom(2), closer: () => app.zoom(0.5), whole: () => app.whole(),
    "gain-up": () => app.scale(1.25), "gain-down": () => app.scale(0.8), add: () => app.add(), interval: () => app.markInterval(), remove: () => app.remove(), retype: () => app.retype(),
    comment, "new-type": newType, undo: () => step("undo"), redo: () => step("redo"), accept: () => queue.decide("accept"), reject: () => queue.decide("reject"),
    move: () => queue.decide("move"), skip: () => queue.step(1), back: () => queue.step(-1), help: () => byId("keys").showModal(),
  };
  // A list that was opened by the mouse gives the keys back once something is chosen.
  let pressed = null;
  document.addEventListener("pointerdown", ({ target }) => { pressed = target; });
  for (const select of document.querySelectorAll("select")) select.addEventListener("change", () => { if (pressed === select) { pressed = null; byId("plot").focus({ preventScroll: true }); } });
  app.on("selected", () => { for (const id of ["remove", "retype", "comment"]) byId(id).disabled = !app.selected.size; });
  app.emit("selected");
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", () => { if (app.info || ALWAYS.includes(id)) act(); });
};
