// Ties tests to the rows of a table of the specification: a test is named after its row, and a row
// without a test fails the suite.

import { expect, test } from "bun:test";

export interface Rows<Name extends string> {
  /** Registers a test of a row. `detail` distinguishes several tests of one row. */
  row(name: Name, ...test: [run: Run] | [detail: string, run: Run]): void;
  /** Must be called last. */
  complete(): void;
}

type Run = () => Promise<void> | void;

export function rowsOf<const Name extends string>(
  table: string,
  names: readonly Name[],
): Rows<Name> {
  const tested = new Set<Name>();
  return {
    row(name, ...[first, second]) {
      tested.add(name);
      if (typeof first === "string") test(`${name} (${first})`, second as Run);
      else test(name, first);
    },
    complete() {
      test(`${table}: every row has a test`, () => {
        expect(names.filter((name) => !tested.has(name))).toEqual([]);
      });
    },
  };
}
