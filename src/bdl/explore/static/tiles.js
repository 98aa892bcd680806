// Tiles of one recording or density, fetched when they are in view.
import { numbers } from "/api.js";
import { Columns } from "/columns.js";

const AT_ONCE = 6, AGAIN = 2000;

export class Tiles extends Columns {
  constructor({ base, query = "", ...shape }, changed) {
    super(shape);
    Object.assign(this, { base, query, changed, wanted: [], running: 0, error: null });
  }

  missing(key) {
    if (!this.wanted.includes(key)) this.wanted.push(key);
    return null;
  }

  // Called after a drawing: fetch what it lacked, the latest first, and forget older wishes.
  load() {
    const now = this.wanted.slice(-64);
    this.wanted = [];
    for (const key of now) {
      if (this.running >= AT_ONCE) break;
      if (this.tiles.get(key) !== undefined) continue;
      this.tiles.set(key, null);
      this.running++;
      numbers(`${this.base}/${key}${this.query}`).then(
        (tile) => { this.tiles.set(key, tile); this.error = null; },
        // What is refused stays so; a server that does not answer is asked again, but not at once.
        (error) => { this.error = error; if (!error.status) setTimeout(() => { this.tiles.delete(key); }, AGAIN); },
      ).finally(() => {
        this.running--;
        this.forget();
        this.changed(this.error);
      });
    }
  }
}
