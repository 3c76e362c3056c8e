// For conditions that only a bug can make false; never compiled out.

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed; ${message}`);
}
