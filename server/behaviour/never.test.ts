// Queues whose items do not expire: `expire_timeout: "never"`, from the call to the disk and back.

import { describe, expect, test } from "bun:test";
import { operations } from "../../openapi/operations.ts";
import { operationMessages } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import { day, orders, plain, refused, run, textsOf } from "../testing/running-app.ts";

const lastInstant = "9999-12-31T23:59:59.999Z";
const never = { expire_timeout: "never" };
const page = { ...orders, partition: 0, pivot: "", limit: 10 };

describe.each(["memory", "sqlite"] as const)("in %s", (store) => {
  test("expire_timeout never: an item outlives a restart, and the queue shows the text as given", async () => {
    await using app = await run({ store, orders: never });
    await app.produce("kept");
    await app.advance(3_660 * day);
    await app.restart();
    await app.advance(day);
    expect(await app.stored()).toMatchObject([
      { expire_deadline: lastInstant, dead_deadline: null },
    ]);
    expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject(never);
    expect((await app.ok("listQueues", { pivot: "", limit: 9 })).items).toMatchObject([never]);
    const lease = await app.lease();
    expect(textsOf(lease.items)).toEqual(["kept"]);
    await app.complete(lease);
  });

  test("a dead queue keeps what failed and what expired, and an import what was listed", async () => {
    await using app = await run({ store, orders: null });
    await app.create("dead", never);
    await app.create("orders", { dead_queue: "dead", expire_timeout: "1d12h", max_attempts: 1 });
    await app.produce("failed");
    await app.retry(await app.lease());
    await app.produce("expired");
    await app.advance(2 * day);
    const dead = await app.stored("dead");
    expect(textsOf(dead)).toEqual(["failed", "expired"]);
    expect(dead).toMatchObject([
      { expire_deadline: lastInstant },
      { expire_deadline: lastInstant },
    ]);
    const { items } = await app.ok("importItems", { ...orders, partition: 0, items: [...dead] });
    expect(items[1]?.expire_deadline).toBe(lastInstant);
    const inNever = { queue_name: "dead", partition: 0, items: [{ payload: "" }] };
    const imported = await app.ok("importItems", inNever);
    expect(imported.items).toMatchObject([{ expire_deadline: lastInstant }]);
  });
});

test("an update enables and disables expiry for items produced afterwards", async () => {
  await using app = await run();
  await app.produce("a day");
  await app.ok("updateQueue", { ...orders, ...never });
  await app.produce("for ever");
  await app.ok("updateQueue", { ...orders, expire_timeout: "7d" });
  await app.produce("a week");
  await app.advance(8 * day);
  expect(textsOf(await app.stored())).toEqual(["for ever"]);
});

test("a lease and a request cannot last for ever", async () => {
  await using app = await run();
  const text = (what: string, formats: string) =>
    refused(
      400,
      `${what} timeout is invalid; time: invalid duration "never" - expected format: ${formats}`,
    );
  const update = await app.call("updateQueue", { ...orders, lease_timeout: "never" });
  expect(plain(update)).toEqual(text("lease", "8m, 15m or 1h"));
  const produced = { ...orders, request_timeout: "never", items: [{}] };
  expect(plain(await app.call("produce", produced))).toEqual(text("request", "900ms, 5m or 15m"));
});

test("pause in protobuf has the values of JSON", async () => {
  await using app = await run();
  const post = async (id: "updateQueue" | "queueInfo" | "listItems", values: object) => {
    const { request, reply } = operationMessages[id];
    const body = encoded(request, { ...values });
    const init = { method: "POST", headers: { "content-type": "application/protobuf" }, body };
    const response = await app.through(app.send(operations[id].path, init));
    return decoded(reply, await response.bytes());
  };
  await post("updateQueue", { ...orders, ...never });
  await app.produce("kept");
  expect(await post("queueInfo", orders)).toMatchObject(never);
  expect(await post("listItems", page)).toMatchObject({
    items: [{ expire_deadline: lastInstant }],
  });
});
