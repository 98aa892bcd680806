// Arrays inside the page: inflated when they are needed, and read as tiles.
import { Columns } from "/columns.js";

const TILE = 2048, MISSING = 255;
const NUMBERS = { f8: Float64Array, u4: Uint32Array, u1: Uint8Array };

export const inflate = async (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};
const unpacked = async ({ kind, data }) => new NUMBERS[kind](await inflate(data));
export const arrays = async (table) => Object.fromEntries(await Promise.all(Object.entries(table).map(async ([name, packed]) => [name, await unpacked(packed)])));

// Curves of equal length, one channel each.
export class Curves extends Columns {
  static async of(curves) { return curves.length ? new Curves(curves, await Promise.all(curves.map(({ y }) => unpacked(y)))) : null; }

  constructor(curves, levels) {
    const { first, step } = curves[0], samples = levels[0].length;
    super({ samples, levels: 1 + Math.max(0, Math.ceil(Math.log(samples / 1024) / Math.log(4))), width: TILE, first, step });
    this.channels = curves.map(({ y: { low, high } }, i) => ({ levels: levels[i], low, scale: (high - low) / (MISSING - 1) }));
  }

  missing(key, level, index) {
    const count = this.count(level, index), tile = new Float32Array(this.channels.length * count * (level ? 2 : 1));
    if (level) this.reduce(tile, level, index, count);
    else this.channels.forEach(({ levels, low, scale }, c) => { for (let i = 0; i < count; i++) { const at = levels[index * TILE + i]; tile[c * count + i] = at === MISSING ? NaN : low + at * scale; } });
    this.tiles.set(key, tile);
    this.forget();
    return tile;
  }

  // Minimum and maximum of four entries of the level below.
  reduce(tile, level, index, count) {
    tile.fill(NaN);
    for (let part = 0; part < 4 && (4 * index + part) * TILE < this.size(level - 1); part++) {
      const below = this.get(level - 1, 4 * index + part), size = this.count(level - 1, 4 * index + part), pairs = level > 1 ? 2 : 1;
      for (let c = 0; c < this.channels.length; c++) {
        for (let i = 0; i < size; i++) {
          const k = pairs * (c * size + i), e = 2 * (c * count + (part * TILE + i >> 2)), low = below[k], high = below[k + pairs - 1];
          if (!(tile[e] <= low) && low === low) tile[e] = low;
          if (!(tile[e + 1] >= high) && high === high) tile[e + 1] = high;
        }
      }
    }
  }
}
