// Both ends of `Rpc`, joined without threads.

import { expect, test } from "bun:test";
import { failure, QueueError } from "../../engine/model/errors.ts";
import { StoreError, type StoreFault } from "../../stores/store.ts";
import { ListenError } from "../http/connections/listen.ts";
import { Rpc, type RpcMessage, type Targets } from "./rpc.ts";

interface Asked {
  readonly given: readonly unknown[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const targetsOf = (methods: object): Targets => new Map([["thread", methods]]);

/** `asked`: calls of `wait`, which the test answers. Messages are cloned, as between threads. */
function setup(methods: object = {}) {
  const asked: Asked[] = [];
  const wait = (...given: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      asked.push({ given, resolve, reject });
    });
  const to = (rpc: () => Rpc) => (message: RpcMessage) => rpc().receive(structuredClone(message));
  const there: Rpc = new Rpc(
    to(() => here),
    targetsOf({ wait, ...methods }),
  );
  const here: Rpc = new Rpc(
    to(() => there),
    targetsOf({ wait, ...methods }),
  );
  return { here, there, asked };
}

interface Waiting {
  wait(...given: readonly unknown[]): Promise<unknown>;
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

test("rpc: a method is called with its arguments, and its value is returned", async () => {
  const { here, there, asked } = setup();
  const value = new Map([["a", { at: new Date(7), bytes: new Uint8Array([1, 2]) }]]);
  for (const end of [here, there]) {
    const reply = end.remote<Waiting>("thread").wait(1, { list: ["x", null] });
    const call = asked.pop();
    expect(call?.given).toEqual([1, { list: ["x", null] }]);
    call?.resolve(value);
    expect(await reply).toEqual(value);
  }
});

test("rpc: answers out of order settle their own calls", async () => {
  const { here, asked } = setup();
  const replies = [0, 1, 2, 3].map((number) => here.call("thread", "wait", number));
  const failed = thrownBy(replies[2] ?? Promise.resolve());
  asked[3]?.resolve("d");
  asked[2]?.reject(new Error("c"));
  asked[0]?.resolve("a");
  asked[1]?.resolve("b");
  expect(await Promise.all([replies[0], replies[1], replies[3]])).toEqual(["a", "b", "d"]);
  expect(await failed).toMatchObject({ message: expect.stringContaining("c") });
});

test("rpc: both ends call at once, with the same numbers", async () => {
  const { here, there, asked } = setup();
  const replies = [
    here.call("thread", "wait", "of there"),
    there.call("thread", "wait", "of here"),
  ];
  for (const { given, resolve } of asked) resolve(given);
  expect(await Promise.all(replies)).toEqual([["of there"], ["of here"]]);
});

test.each<[string, QueueError]>([
  ["without details", QueueError.from(failure("bad_dead_queue", "dead_queue is invalid; x"))],
  [
    "with details",
    QueueError.from(failure("not_leased", "some ids are not leased; 1", { "1": "it is queued" })),
  ],
  [
    "with a code of its own",
    QueueError.from({ ...failure("in_part", "done in part"), code: "closing" }),
  ],
])("rpc: a QueueError %s is thrown as one", async (_, error) => {
  const { here, asked } = setup();
  const thrown = thrownBy(here.call("thread", "wait"));
  asked[0]?.reject(error);
  const got = (await thrown) as QueueError;
  expect(got).toBeInstanceOf(QueueError);
  const { code, reason, message, details } = error;
  expect({
    code: got.code,
    reason: got.reason,
    message: got.message,
    details: got.details,
  }).toEqual({ code, reason, message, details });
});

test.each<[StoreFault, unknown, string | undefined]>([
  ["locked", undefined, undefined],
  ["failed", new Error("disk I/O error"), "disk I/O error"],
  ["full", Object.assign(new Error("no space"), { code: "ENOSPC" }), "no space"],
])(
  "rpc: a StoreError keeps its fault and the text of its cause; %s",
  async (fault, cause, text) => {
    const { here, asked } = setup();
    const thrown = thrownBy(here.call("thread", "wait"));
    asked[0]?.reject(new StoreError(fault, "the store cannot be opened", cause));
    const got = (await thrown) as StoreError;
    expect(got).toBeInstanceOf(StoreError);
    const shown = got.cause instanceof Error ? got.cause.message : got.cause;
    expect([got.fault, got.message, shown]).toEqual([fault, "the store cannot be opened", text]);
  },
);

test.each(["EADDRINUSE", "EACCES", "EADDRNOTAVAIL"])(
  "rpc: a ListenError is thrown as one; %s",
  async (code) => {
    const { here, asked } = setup();
    const thrown = thrownBy(here.call("thread", "wait"));
    const error = new ListenError({ code }, { host: "::1", port: 9_090 });
    asked[0]?.reject(error);
    const got = (await thrown) as ListenError;
    expect(got).toBeInstanceOf(ListenError);
    expect({ ...got, message: got.message }).toEqual({ ...error, message: error.message });
  },
);

test("rpc: a ListenError without a system code keeps its text", async () => {
  const { here, asked } = setup();
  const thrown = thrownBy(here.call("thread", "wait"));
  const error = new ListenError(new Error("no sockets here"), { host: "127.0.0.1", port: 1 });
  asked[0]?.reject(error);
  expect(await thrown).toMatchObject({ code: "", fault: "settings", message: error.message });
});

test("rpc: any other error contains its stack", async () => {
  const { here, asked } = setup();
  const thrown = [thrownBy(here.call("thread", "wait")), thrownBy(here.call("thread", "wait"))];
  asked[0]?.reject(new TypeError("x is not a function"));
  asked[1]?.reject("a text");
  const [error, text] = (await Promise.all(thrown)) as Error[];
  expect(error?.message).toStartWith("a thread failed; ");
  expect(error?.message).toContain("x is not a function");
  expect(error?.message).toContain(import.meta.file);
  expect(text?.message).toBe("a thread failed; a text");
});

test.each(["missing", "toString", "constructor", "__proto__"])(
  "rpc: an unknown method is refused; %s",
  async (method) => {
    const { here } = setup();
    const error = await thrownBy(here.call("thread", method));
    expect(String(error)).toContain(`a thread has no method '${method}'`);
  },
);

test("rpc: each target has its own methods, and an unknown target has none", async () => {
  const targets: Targets = new Map([
    [1, { name: () => "one" }],
    [4, { name: () => "four" }],
  ]);
  const here: Rpc = new Rpc((message) => there.receive(message), new Map());
  const there: Rpc = new Rpc((message) => here.receive(message), targets);
  expect(await Promise.all([here.call(4, "name"), here.call(1, "name")])).toEqual(["four", "one"]);
  for (const target of ["thread", 0] as const) {
    expect(String(await thrownBy(here.call(target, "name")))).toContain("no method 'name'");
  }
});

test("rpc: a value that cannot be cloned fails its own call only", async () => {
  const { here } = setup({ bad: () => () => 1, good: () => 2 });
  const replies = [thrownBy(here.call("thread", "bad")), here.call("thread", "good")];
  const [bad, good] = await Promise.all(replies);
  expect(String(bad)).toContain("a thread failed; ");
  expect(good).toBe(2);
});

test("rpc: an argument that cannot be cloned rejects its own call", async () => {
  const { here, asked } = setup();
  expect(String(await thrownBy(here.call("thread", "wait", () => 1)))).toContain("DataCloneError");
  const reply = here.call("thread", "wait", 1);
  asked[0]?.resolve(2);
  expect(await reply).toBe(2);
});
