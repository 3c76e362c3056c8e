// Faults of the reference implementation that show at the HTTP side, by their number in the
// catalogue of its behaviour; each is one that this server must not have. The engine's own
// `reference-faults.test.ts` has those that show below.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { type OperationId, operations } from "../openapi/operations.ts";
import type { Reply } from "../openapi/schemas.ts";
import {
  type Answer,
  type Begun,
  hour,
  idsOf,
  instant,
  minute,
  orders,
  plain,
  type RunningApp,
  refused,
  run,
  second,
  start,
  textsOf,
  timed,
} from "./specification/running-app.ts";

test("fault 1: on a disk that is really full, no 200 is given for what was not written", async () => {
  await using app = await run({ store: "sqlite", pagesMax: 100 });
  await app.produce("small");
  const full = await fill(app);
  expect(plain(full)).toEqual(refused(500, "there is no space left on the disk; nothing was written"));
  const written = app.written;
  const stored = await app.stored();
  expect(stored).toHaveLength(written + 1);
  await app.restart();
  expect(await app.stored()).toEqual(stored);
});
