// For what can only be false if the program is wrong; never compiled out.

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed; ${message}`);
}
