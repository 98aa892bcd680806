// Tiles of one recording or density, fetched when they are in view.
import { numbers } from "/api.js";
import { Columns } from "/columns.js";

const AT_ONCE = 6;

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
        (error) => { this.tiles.delete(key); this.error = error; },
      ).finally(() => {
        this.running--;
        this.forget();
        this.changed(this.error);
      });
    }
  }
}
