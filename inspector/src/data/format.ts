// Numbers and times, for people.

const whole = new Intl.NumberFormat("en");

/** 12,345 */
export function count(value: number): string {
  return whole.format(value);
}

/** 950, 12.3k, 1.24M: three digits. */
export function short(value: number): string {
  if (value < 1_000) return String(value);
  const [unit, size] = value < 999_500 ? ["k", 1_000] : ["M", 1_000_000];
  const scaled = value / (size as number);
  return `${scaled < 9.995 ? scaled.toFixed(2) : scaled < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0)}${unit}`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KB`;
  return `${(value / 1_048_576).toFixed(1)} MB`;
}

export function duration(ns: number): string {
  const ms = ns / 1e6;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} m ${Math.round((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

export function percent(part: number, all: number): string {
  if (all <= 0) return "0\u00a0%";
  const value = (100 * part) / all;
  // The space does not break.
  return value > 0 && value < 1 ? "<1\u00a0%" : `${Math.round(value)}\u00a0%`;
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function ago(ns: number, now = Date.now()): string {
  let value = (ns / 1e6 - now) / 1_000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(value) < size) return relative.format(Math.round(value), unit);
    value /= size;
  }
  return relative.format(Math.round(value), "year");
}

/** 2026-11-18 04:05:12 */
export function moment(ns: number): string {
  const date = new Date(ns / 1e6);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ns)}`;
}

/** 04:05:12 */
export function clock(ns: number): string {
  const date = new Date(ns / 1e6);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => String(value).padStart(2, "0")).join(":");
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
