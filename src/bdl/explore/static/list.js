// The list of recordings: search, order, and what is doubtful in each.
import { byId } from "/scene.js";

const MOST = 300;
const length = (seconds) => (seconds >= 172800 ? `${(seconds / 86400).toFixed(1)} d` : seconds >= 5400 ? `${(seconds / 3600).toFixed(1)} h` : seconds >= 90 ? `${(seconds / 60).toFixed(1)} min` : `${seconds.toFixed(1)} s`);

export const list = (app) => {
  let doubts = new Map(), order = [], chosen = false;
  const of = (number) => doubts.get(number) ?? { errors: 0, mass: 0 };
  const reveal = (item) => {  // without moving the page itself
    const box = byId("list");
    if (!item) return;
    const top = item.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top + item.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  };
  const draw = () => {
    const text = byId("search").value.toLowerCase(), by = byId("sort").value, rows = app.session.recordings;
    order = rows.map((_, number) => number).filter((number) => rows[number].id.toLowerCase().includes(text));
    const compare = { name: (a, b) => rows[a].id.localeCompare(rows[b].id, "en", { numeric: true }), mass: (a, b) => of(b).mass - of(a).mass, errors: (a, b) => of(b).errors - of(a).errors, labels: (a, b) => rows[b].labels - rows[a].labels };
    order.sort((a, b) => compare[by](a, b) || a - b);
    byId("listed").textContent = order.length === rows.length ? rows.length.toLocaleString("en") : `${order.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    const items = order.slice(0, MOST).map((number) => {
      const item = document.createElement("li"), button = document.createElement("button"), id = document.createElement("span"), facts = document.createElement("span");
      id.className = "id"; id.textContent = rows[number].id; button.title = rows[number].id;
      facts.className = "facts";
      const { errors } = of(number);
      facts.textContent = `${length(rows[number].seconds)}, ${rows[number].labels.toLocaleString("en")} labels${errors ? `, ${errors} to review` : ""}`;
      button.append(id, facts);
      button.dataset.number = number;
      if (number === app.place) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => app.open(number));
      item.append(button);
      return item;
    });
    if (order.length > MOST) { const more = document.createElement("li"); more.textContent = `${(order.length - MOST).toLocaleString("en")} more: search`; items.push(more); }
    const held = document.activeElement?.closest("#list button")?.dataset.number;
    byId("list").replaceChildren(...items);
    reachable();
    if (held) byId("list").querySelector(`[data-number="${held}"]`)?.focus({ preventScroll: true });
  };
  // One stop for Tab, at the open recording; arrow keys go on from there.
  const buttons = () => [...byId("list").querySelectorAll("button")];
  const reachable = () => {
    const all = buttons(), stop = all.find((button) => button.hasAttribute("aria-current")) ?? all[0];
    for (const button of all) button.tabIndex = button === stop ? 0 : -1;
  };
  byId("list").addEventListener("keydown", (event) => {
    const all = buttons(), at = all.indexOf(document.activeElement), next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all[Math.min(Math.max(0, next), all.length - 1)]?.focus();
  });
  byId("search").addEventListener("input", draw);
  byId("sort").addEventListener("change", () => { chosen = true; draw(); });
  app.on("session", draw);
  app.on("doubts", (found) => { doubts = found; if (!chosen && found.size) byId("sort").value = "mass"; chosen = true; draw(); });
  app.on("opening", () => { for (const button of byId("list").querySelectorAll("button")) button.toggleAttribute("aria-current", false); const own = byId("list").querySelector(`[data-number="${app.place}"]`); own?.setAttribute("aria-current", "true"); reachable(); reveal(own); });
  app.on("edited", draw);
  app.on("step", (by) => { const at = order.indexOf(app.place) + by; if (order[at] !== undefined) app.open(order[at]); });
};
