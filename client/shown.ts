// Values of any kind in words, for messages.

/** Of what kind it is, and what it is if that is short: `number 42`, `undefined`, `Date`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return classOf(value);
  const isShort = ["number", "bigint", "boolean"].includes(typeof value);
  return isShort ? `${typeof value} ${value}` : typeof value;
}

/** `Object`, `Date`, `Array` and so on, from whatever realm it comes. */
export function classOf(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}
