// Figures and durations in the few characters that a row has for them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function countText(count: number): string {
  return count >= 10_000_000 ? `${(count / 1e6).toFixed(1)} M` : whole.format(count);
}

export function plural(count: number, one: string, more: string): string {
  return `${countText(count)} ${count === 1 ? one : more}`;
}

export const itemsText = (count: number) => plural(count, "item", "items");

export function rateText(perSecond: number | null): string {
  if (perSecond === null) return "–";
  if (perSecond === 0) return "0";
  if (perSecond < 0.05) return "< 0.1";
  return perSecond < 10 ? perSecond.toFixed(1) : countText(perSecond);
}

export const directionMarks = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Shows characters that change the direction of text by their numbers. */
export function withVisibleMarks(text: string): string {
  return text.replace(directionMarks, (found) => `⟨U+${found.charCodeAt(0).toString(16)}⟩`);
}

export interface Measure {
  readonly value: string;
  readonly unit: string;
}

export function spanOf(ms: number): Measure {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 1) return { value: String(Math.round(seconds * 1_000)), unit: "ms" };
  if (seconds < 90) return { value: String(Math.round(seconds)), unit: "s" };
  if (seconds < 5_400) return { value: String(Math.round(seconds / 60)), unit: "m" };
  if (seconds < 172_800) return { value: (seconds / 3_600).toFixed(1), unit: "h" };
  return { value: whole.format(seconds / 86_400), unit: "d" };
}

export function spanText(ms: number): string {
  const { value, unit } = spanOf(ms);
  return `${value} ${unit}`;
}

/** A countdown. */
export function leftText(ms: number): string {
  if (ms <= 0) return "now";
  const seconds = Math.ceil(ms / 1_000);
  const two = (n: number) => String(n).padStart(2, "0");
  if (seconds >= 86_400) return spanText(ms);
  const hours = Math.floor(seconds / 3_600);
  const rest = `${two(Math.floor((seconds % 3_600) / 60))}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${two(hours)}:${rest}`;
}

export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let at = 0;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1_000;
    at += 1;
  }
  return `${value < 9.95 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export type Zone = "utc" | "local";

export function clockText(ms: number, zone: Zone, options: { readonly seconds?: boolean } = {}) {
  const { seconds = true } = options;
  const at = new Date(ms);
  const text =
    zone === "utc"
      ? at.toISOString().slice(11, 19)
      : at.toLocaleTimeString("en-GB", { hour12: false });
  return seconds ? text : text.slice(0, 5);
}

export function instantText(ms: number, zone: Zone): string {
  const at = new Date(ms);
  if (zone === "utc") return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return `${at.toLocaleDateString("sv-SE")} ${clockText(ms, zone)}`;
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `1h30m` in milliseconds; `null` if it is not a duration, such as `never`. */
export function durationMs(text: string): number | null {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0) return null;
  return parts.reduce((sum, [, figure, unit]) => {
    return sum + Number(figure) * unitMs[unit as keyof typeof unitMs];
  }, 0);
}
