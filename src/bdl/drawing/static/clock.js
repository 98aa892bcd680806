// Seconds from the start of a recording as wall-clock time, where the start is known.
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
  3600, 7200, 10800, 21600, 43200, 86400, 172800, 259200, 604800, 2592000];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const two = (number) => String(Math.floor(number)).padStart(2, "0");

export class Clock {
  constructor({ start, offsets }) { this.start = start; this.offsets = offsets; }

  get known() { return this.start !== null; }

  offset(seconds) {
    let offset = this.offsets[0]?.[1] ?? 0;
    for (const [from, value] of this.offsets) if (seconds >= from) offset = value;
    return offset;
  }

  // Local seconds since 1970, or seconds from the start where that is all that is known.
  local(seconds) { return this.known ? this.start + seconds + this.offset(seconds) : seconds; }

  fromLocal(local) {
    if (!this.known) return local;
    const guess = local - this.start - (this.offsets[0]?.[1] ?? 0);
    return local - this.start - this.offset(guess);
  }

  text(seconds, step = 0.001) {
    const local = this.local(seconds);
    const digits = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step) - 1e-9));
    const rounded = Math.round(local * 10 ** digits) / 10 ** digits;
    const day = ((rounded % 86400) + 86400) % 86400;
    const rest = step < 60 || !this.known ? `:${(day % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0")}` : "";
    if (!this.known) {
      const sign = rounded < 0 ? "−" : "";
      return `${sign}${Math.floor(Math.abs(rounded) / 3600)}:${two(Math.abs(rounded) % 3600 / 60)}${rest}`;
    }
    return `${two(day / 3600)}:${two(day % 3600 / 60)}${rest}`;
  }

  date(seconds) {
    if (!this.known) return "";
    const at = new Date(this.local(seconds) * 1000);
    return `${DAYS[at.getUTCDay()]} ${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  }

  full(seconds, step = 0.001) { return [this.date(seconds), this.text(seconds, step)].filter(Boolean).join(" "); }

  // Places and texts of an axis with about one tick per 95 pixels.
  ticks(from, to, width) {
    const wanted = (to - from) / Math.max(1, width / 95);
    const step = STEPS.find((value) => value >= wanted) ?? 2592000;
    const ticks = [];
    const first = Math.ceil(this.local(from) / step) * step;
    for (let i = 0; i < 200; i++) {
      const at = this.fromLocal(first + i * step);
      if (at > to) break;
      if (at < from) continue;
      const midnight = this.known && Math.abs(this.local(at) % 86400) < 1e-6;
      ticks.push({ at, text: midnight && step >= 60 ? this.date(at).slice(4) : this.text(at, step) });
    }
    return ticks;
  }
}
