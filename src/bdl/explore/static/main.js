// Puts the parts of the page together.
import { actogram } from "/actogram.js";
import { App } from "/app.js";
import { display } from "/display.js";
import { keys } from "/keys.js";
import { list } from "/list.js";
import { pointer } from "/pointer.js";
import { Queue } from "/queue.js";
import { byId } from "/scene.js";

// A question with one line of text for an answer; null if it is cancelled.
const ask = (question, text) => new Promise((answer) => {
  const dialog = byId("ask");
  byId("ask-title").textContent = question;
  byId("ask-text").value = text;
  dialog.returnValue = "";
  dialog.addEventListener("close", () => answer(dialog.returnValue === "yes" ? byId("ask-text").value : null), { once: true });
  dialog.showModal();
  byId("ask-text").select();
});

const app = new App(), queue = new Queue(app);
window.bdl = app;  // for tests and the console of the browser
list(app);
display(app);
actogram(app);
pointer(app);
keys(app, queue, ask);
app.start().then(() => {
  byId("agreement-box").hidden = !app.session.others.length;
  return queue.load();
}).catch((error) => app.message(error.message, true));
