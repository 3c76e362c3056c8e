import { expect, test } from "bun:test";
import { callsOf, usual } from "./create-queue.tsx";

const none = { ...usual, name: "orders", deadQueue: "~none" };
const own = { queue_name: "orders", lease_timeout: "60m", expire_timeout: "24h", max_attempts: 10 };
const bodiesOf = (definition: typeof usual) => callsOf(definition, []).map(({ body }) => body);

test("create: only settings that differ from the defaults are sent", () => {
  expect(bodiesOf(none)).toEqual([own]);
  expect(bodiesOf({ ...none, priorityAging: "never" })).toEqual([
    { ...own, priority_aging: "never" },
  ]);
});

test("create: settings of groups are sent only for a queue with groups", () => {
  const groups = {
    leasedMax: "1",
    rate: "10/1s",
    waitingMax: "",
    order: "strict",
    onDead: "block",
  };
  expect(bodiesOf({ ...none, groups })).toEqual([own]);
  expect(bodiesOf({ ...none, isGrouped: true })).toEqual([{ ...own, grouped: true }]);
  const settings = {
    ...{ group_leased_max: 1, group_rate: "10/1s" },
    ...{ group_order: "strict", group_on_dead: "block" },
  };
  expect(bodiesOf({ ...none, isGrouped: true, groups })).toEqual([
    { ...own, grouped: true, ...settings },
  ]);
});

test("create: the dead queue of a queue with groups has none", () => {
  const [dead] = bodiesOf({ ...none, deadQueue: "~own", isGrouped: true });
  expect(dead).toEqual({ queue_name: "orders-dead", lease_timeout: "60m", expire_timeout: "240h" });
});
