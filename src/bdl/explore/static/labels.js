// The labels of the open recording, and edits of them: on disk before they are shown.
import { get, post } from "/api.js";
import { bisect } from "/plot.js";

// Columns of the server as a list of events by time. What is below the threshold is faint, the more the lower its score.
const opacity = (score, threshold) => (score < threshold ? 0.06 + 0.4 * Math.max(0, score / threshold) : undefined);
const listed = ({ id, types, type, time, score, comment }, threshold) => time.map((at, i) => ({
  id: id?.[i], event: types[type[i]], time: at, faint: opacity(score?.[i], threshold), comment: comment?.[id?.[i]] ?? "",
}));

const plain = (recording, { event, time, comment }) => ({ recording, event, time, comment: comment ?? "" });

export class Labels {
  constructor(app) { this.app = app; this.number = 0; this.undoable = null; this.redoable = null; }

  async load(place) {
    const answer = await get(`/api/recordings/${place}/events`);
    const others = Object.fromEntries(Object.entries(answer.others).map(([name, layer]) => [name, listed(layer)]));
    return { labels: listed(answer.labels), detections: answer.detections && listed(answer.detections, this.app.session.threshold), others };
  }

  find(id) { return this.app.events.labels.find((label) => label.id === id); }

  // Changes of labels of the open recording, as [label or null, new values or null].
  async edit(pairs, review = null) {
    const recording = this.app.info.id;
    const changes = pairs.map(([label, next]) => ({
      id: label?.id ?? 0, before: label && plain(recording, label), after: next && plain(recording, { ...label, ...next }),
    })).filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
    if (!changes.length && !review) return null;
    return this.send("/api/edits", { changes, review });
  }

  step(which) { return this.send(`/api/${which}`, { number: which === "undo" ? this.undoable : this.redoable }); }

  async send(path, body) {
    const annotator = document.getElementById("annotator").value.trim();
    try {
      const answer = await post(path, { annotator, ...body });
      if (answer.entry.number === this.number + 1) this.take([answer.entry], answer);
      else await this.poll();
      return answer.entry;
    } catch (error) {
      this.app.fail(error);
      if (error.status === 409) await this.app.reload();
      return null;
    }
  }

  // What was edited elsewhere.
  async poll() {
    const answer = await get(`/api/changes?after=${this.number}`);
    this.take(answer.entries.filter((entry) => entry.number > this.number), answer);
  }

  take(entries, state) {
    for (const entry of entries) {
      for (const change of entry.changes) this.apply(change);
      this.app.edited(entry);
    }
    this.remember(state);
  }

  remember({ number, undoable, redoable, changed }) {
    Object.assign(this, { number, undoable, redoable });
    this.app.journalChanged(changed);
  }

  apply({ id, before, after }) {
    const recording = (after ?? before).recording, row = this.app.session.recordings.find((item) => item.id === recording);
    if (row) row.labels += (after ? 1 : 0) - (before ? 1 : 0);
    if (recording !== this.app.info?.id || !this.app.events) return;
    const { labels } = this.app.events;
    const old = labels.findIndex((label) => label.id === id);
    if (old >= 0) labels.splice(old, 1);
    if (after) labels.splice(bisect(labels, after.time), 0, { id, event: after.event, time: after.time, comment: after.comment });
    else this.app.selected.delete(id);
  }

  // The other end of the interval that a label belongs to, if there is one.
  partner(label) {
    const { labels } = this.app.events;
    for (const { onset, offset } of this.app.intervals) {
      if (label.event === onset) {
        const next = labels.find((other) => other.time >= label.time && other.id !== label.id && (other.event === onset || other.event === offset));
        return next?.event === offset ? next : null;
      }
      if (label.event === offset) {
        const before = labels.findLast((other) => other.time <= label.time && other.id !== label.id && (other.event === onset || other.event === offset));
        return before?.event === onset ? before : null;
      }
    }
    return null;
  }
}
