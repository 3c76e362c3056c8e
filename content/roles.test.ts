// What the page says that each role may call, against the contract.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operations, pages } from "../openapi/operations.ts";

const page = readFileSync(join(import.meta.dir, "docs/configuration.mdx"), "utf8");
const [, section = ""] = /^### Roles\n([\s\S]*?)^### /m.exec(page) ?? [];

const contract = [
  ...Object.values(operations).map(({ path, role }) => [path.slice("/v1/".length), role] as const),
  ...Object.values(pages).flatMap((page) =>
    "needs" in page ? [[page.path, page.needs.role] as const] : [],
  ),
];

test("configuration: the table of roles has each operation with the role that it takes", () => {
  const rows = [...section.matchAll(/^\| `?(\w+)`? \|[^|]*\|([^|]*)\|$/gm)].map(
    ([, role = "", calls = ""]) => [role, calls] as const,
  );
  const told = rows.flatMap(([role, calls]) =>
    [...calls.matchAll(/`([^`]+)`/g)].map(([, call]) => `${call}: ${role}`),
  );
  expect(told.toSorted()).toEqual(contract.map(([call, role]) => `${call}: ${role}`).toSorted());
});
