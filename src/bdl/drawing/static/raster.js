// Pixels of a drawing, written directly: thousands of thin columns cost far less than as shapes.
const packed = new Map();
// "#rrggbb" as the number that a pixel holds.
const pixel = (colour) => {
  if (!packed.has(colour)) { const rgb = parseInt(colour.slice(1), 16); packed.set(colour, (0xff000000 | (rgb & 0xff) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0); }
  return packed.get(colour);
};

export class Raster {
  // A canvas of a size in CSS pixels, white; the context draws in CSS pixels too.
  begin(canvas, width, height) {
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.width = Math.round(width * this.ratio); this.height = Math.round(height * this.ratio);
    this.context ??= canvas.getContext("2d", { alpha: false });
    if (canvas.width !== this.width || canvas.height !== this.height) { canvas.width = this.width; canvas.height = this.height; }
    if (this.image?.width !== this.width || this.image.height !== this.height) {
      this.image = this.context.createImageData(this.width, this.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0xffffffff);
  }

  // Device pixels of a rectangle in CSS pixels: first and last column and row, the last ones excluded.
  edges(x, y, width, height) {
    const { ratio } = this;
    return [Math.max(0, Math.round(x * ratio)), Math.min(this.width, Math.round((x + width) * ratio)), Math.max(0, Math.round(y * ratio)), Math.min(this.height, Math.round((y + height) * ratio))];
  }

  rect(x, y, width, height, colour) {
    const value = pixel(colour), { pixels } = this, [left, right, top, bottom] = this.edges(x, y, width, height);
    for (let row = top * this.width; row < bottom * this.width; row += this.width) {
      if (right - left > 16) pixels.fill(value, row + left, row + right); else for (let at = row + left; at < row + right; at++) pixels[at] = value;
    }
  }

  // A colour laid over what is there.
  tint(x, y, width, height, colour, alpha) {
    const over = pixel(colour), { pixels } = this, [left, right, top, bottom] = this.edges(x, y, Math.max(1, width), height);
    const part = (under, shift) => Math.round((under >>> shift & 255) * (1 - alpha) + (over >>> shift & 255) * alpha) << shift;
    let under = 0, mixed = 0;
    for (let row = top * this.width; row < bottom * this.width; row += this.width) {
      for (let at = row + left; at < row + right; at++) {
        if (pixels[at] !== under) { under = pixels[at]; mixed = (0xff000000 | part(under, 16) | part(under, 8) | part(under, 0)) >>> 0; }
        pixels[at] = mixed;
      }
    }
  }

  // The first row of a rectangle over the whole width, in all its rows.
  repeat(y, height) {
    const [, , top, bottom] = this.edges(0, y, 0, height), from = top * this.width;
    for (let row = top + 1; row < bottom; row++) this.pixels.copyWithin(row * this.width, from, from + this.width);
  }

  // One column of device pixels from top to bottom, both in CSS pixels; at least one pixel high.
  column(x, top, bottom, colour) {
    const value = pixel(colour), { pixels, width } = this, first = Math.max(0, Math.round(top * this.ratio));
    const end = Math.min(this.height, Math.max(first + 1, Math.round(bottom * this.ratio))) * width + x;
    for (let at = first * width + x; at < end; at += width) pixels[at] = value;
  }

  // Put the pixels on the canvas; what is drawn with the context comes on top.
  show() {
    this.context.putImageData(this.image, 0, 0);
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return this.pen();
  }

  // The context with the font of all drawings, to measure texts with.
  pen() { this.context.font = "12px system-ui, sans-serif"; return this.context; }
}
