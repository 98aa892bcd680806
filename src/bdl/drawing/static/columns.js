// Minima and maxima of pixel columns, from tiles in powers of 4. Where a tile is not there yet, a coarser one is drawn.
const KEPT = 600;

export class Columns {
  // Entry i of level 0 is at first + i * step seconds; a tile has `width` entries of each channel.
  constructor({ samples, levels, width, first, step }) {
    Object.assign(this, { samples, levels, width, first, step, tiles: new Map() });
  }

  size(level) { return Math.ceil(this.samples / 4 ** level); }
  count(level, index) { return Math.min(this.width, this.size(level) - index * this.width); }
  place(time) { return (time - this.first) / this.step; }

  levelFor(samplesPerPixel) {
    return Math.min(this.levels - 1, Math.max(0, Math.floor(Math.log2(Math.max(samplesPerPixel, 1)) / 2)));
  }

  // A tile, or null while it is on its way: (channel, entry) samples of level 0, (channel, entry, 2) minima and maxima above.
  get(level, index) {
    const key = `${level}/${index}`, tile = this.tiles.get(key);
    if (tile) { this.tiles.delete(key); this.tiles.set(key, tile); return tile; }
    return this.missing(key, level, index);
  }
  load() {}
  forget() { for (const old of this.tiles.keys()) { if (this.tiles.size <= KEPT) break; this.tiles.delete(old); } }

  // Minimum and maximum of every pixel column of a channel between two times.
  columns(channel, from, to, width, low, high) {
    const begin = this.place(from), perPixel = (this.place(to) - begin) / width, level = this.levelFor(perPixel);
    low.fill(NaN, 0, width); high.fill(NaN, 0, width);
    let missing = this.fill(level, channel, begin, perPixel, width, low, high);
    for (let coarse = level + 1; missing && coarse < this.levels; coarse++) {
      if (this.cached(coarse, begin, this.place(to))) { this.fill(coarse, channel, begin, perPixel, width, low, high, true); missing = false; }
    }
  }

  cached(level, from, to) {
    const scale = 4 ** level, last = Math.min(this.size(level) - 1, Math.floor(to / scale));
    for (let i = Math.max(0, Math.floor(from / scale / this.width)); i * this.width <= last; i++) if (this.tiles.get(`${level}/${i}`)) return true;
    return false;
  }

  fill(level, channel, from, perPixel, width, low, high, onlyGaps = false) {
    const scale = 4 ** level, size = this.size(level), pairs = level > 0;
    let missing = false, index = -1, tile = null, count = 0;
    for (let x = 0; x < width; x++) {
      if (onlyGaps && low[x] === low[x]) continue;
      const first = Math.max(0, Math.floor((from + x * perPixel) / scale));
      const last = Math.min(size, Math.max(first + 1, Math.floor((from + (x + 1) * perPixel) / scale)));
      let least = Infinity, most = -Infinity;
      for (let e = first; e < last; e++) {
        const place = Math.floor(e / this.width);
        if (place !== index) {
          index = place;
          tile = onlyGaps ? this.tiles.get(`${level}/${place}`) : this.get(level, place);
          count = this.count(level, place);
        }
        if (!tile) { missing = true; continue; }
        const k = channel * count + e - place * this.width;
        const a = pairs ? tile[2 * k] : tile[k], b = pairs ? tile[2 * k + 1] : a;
        if (a < least) least = a;
        if (b > most) most = b;
      }
      if (most >= least) { low[x] = least; high[x] = most; }
    }
    return missing;
  }

  // A sample itself, for views with few of them; null while it is on its way.
  sample(channel, i) {
    const place = Math.floor(i / this.width), tile = this.get(0, place);
    return tile ? tile[channel * this.count(0, place) + i - place * this.width] : null;
  }
}
