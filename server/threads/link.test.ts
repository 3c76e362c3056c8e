// Two links over one channel.

import { afterAll, expect, test } from "bun:test";
import { failure, QueueError } from "../../engine/model/errors.ts";
import type { Answer, Call } from "../calls/call.ts";
import { HttpError } from "../http/reply.ts";
import { Caller, JsonText } from "../routes/route.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Link } from "./link.ts";
import { routesOver } from "./remote.ts";
import type { RpcMessage } from "./rpc.ts";

const ports: MessagePort[] = [];
afterAll(() => {
  for (const port of ports) port.close();
});

type Answering = (call: Call, caller: Caller) => Promise<Answer>;

interface Ends {
  readonly here: Link;
  readonly there: Link;
  /** The kinds of the frames and messages on the channel, in order. */
  readonly crossed: string[];
}

function setup(answer: Answering, methods: object = {}): Ends {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const crossed: string[] = [];
  const linkAt = (port: MessagePort): Link => {
    const link = new Link({
      port: {
        postMessage: (message) => {
          crossed.push(typeof message === "string" ? (message[0] ?? "") : message.kind);
          port.postMessage(message);
        },
      },
      ...{ answer, targets: new Map([["thread", methods]]), log: silentLog },
    });
    port.onmessage = ({ data }: MessageEvent<string | RpcMessage>) => link.receive(data);
    return link;
  };
  return { here: linkAt(port1), there: linkAt(port2), crossed };
}

function callOf(body: string, operation: Call["operation"] = "produce"): Call {
  return { operation, shard: null, body, requestKey: null };
}

function callerOf(controller = new AbortController()): Caller {
  return new Caller({ client: controller, requestKey: null });
}

const done = (text: string, isReplayed = false): Answer => ({ is: "done", text, isReplayed });

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

test("link: calls and messages of both ends interleave, each with its own answer", async () => {
  const { here, there, crossed } = setup(
    async ({ body }, caller) => done(`${body} of ${caller.requestKey}`),
    { twice: async (number: number) => 2 * number },
  );
  const work = (link: Link, name: string) =>
    Array.from({ length: 20 }, async (_, index) => {
      const requestKey = `${name}${index}`;
      const call = { ...callOf(String(index)), requestKey };
      const number = link.rpc.call("thread", "twice", index);
      const { text } = await link.call(call, callerOf());
      return [text, await number];
    });
  const replies = await Promise.all([...work(here, "a"), ...work(there, "b")]);
  const expected = (name: string) =>
    Array.from({ length: 20 }, (_, index) => [`${index} of ${name}${index}`, 2 * index]);
  expect(replies).toEqual([...expected("a"), ...expected("b")]);
  expect(new Set(crossed)).toEqual(new Set(["c", "a", "call", "result"]));
  // One frame per round of events and end, not one per call.
  expect(crossed.filter((kind) => kind === "c")).toHaveLength(2);
});

test("link: a body that looks like a frame stays a body", async () => {
  const { here } = setup(async ({ body }) => done(body));
  for (const body of ["a3,1,-", "c0,", '{"kind":"call"}', "-,", "ÿ\u2028,\u{1f600}"]) {
    expect((await here.call(callOf(body), callerOf())).text).toBe(body);
  }
});

test("link: an error of the other end is thrown with its class and fields", async () => {
  const failed = failure("not_leased", "ids are not leased", { "1": "it is queued" });
  const answers: Record<string, Answer> = {
    failure: { is: "failure", failure: failed },
    refusal: { is: "refusal", reason: "backups_off", message: "backups are off" },
    failed: { is: "failed" },
  };
  const { here } = setup(async ({ body }) => answers[body] ?? done(""));
  const thrown = (body: string) => thrownBy(here.call(callOf(body), callerOf()));
  const queueError = await thrown("failure");
  expect(queueError).toBeInstanceOf(QueueError);
  const { code, reason, details } = failed;
  expect(queueError).toMatchObject({ code, reason, details, message: failed.message });
  const refusal = await thrown("refusal");
  expect(refusal).toBeInstanceOf(HttpError);
  expect(refusal).toMatchObject({ code: 453, reason: "backups_off", message: "backups are off" });
  const bug = await thrown("failed");
  expect(bug).toBeInstanceOf(Error);
  expect([bug instanceof QueueError, bug instanceof HttpError]).toEqual([false, false]);
});

test("link: the caller's identity and whether the reply is a replay are transferred", async () => {
  const identity = { name: "anna", rights: [{ roles: ["read"], queues: ["orders"] }] } as const;
  const { here } = setup(async (_, caller) => done(JSON.stringify(caller.identity), true));
  const caller = callerOf();
  const { text } = await here.call({ ...callOf(""), identity }, caller);
  expect([JSON.parse(text), caller.isReplayed]).toEqual([identity, true]);
});

test.each(["lease", "overview"] as const)(
  "link: a hang-up reaches the other end; %s",
  async (id) => {
    const begun = Promise.withResolvers<void>();
    const { here } = setup((_, caller) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      caller.signal.addEventListener("abort", () => resolve(done("hung up")));
      begun.resolve();
      return promise;
    });
    const controller = new AbortController();
    const reply = here.call(callOf("", id), callerOf(controller));
    await begun.promise;
    controller.abort();
    expect((await reply).text).toBe("hung up");
  },
);

test("remote: an unchanged body is sent as the client's text, a changed one as new JSON", async () => {
  const { here } = setup(async ({ body }) => done(body));
  const text = '{ "queue_name": "orders",\t"items": [] }';
  const body = JSON.parse(text);
  const caller = new Caller({
    ...{ client: new AbortController(), requestKey: null },
    sent: { body, text },
  });
  const { produce } = routesOver(here, 2);
  expect(await produce(body, caller)).toEqual(new JsonText(text));
  const changed = { ...body, queue_name: "others" };
  expect(await produce(changed, caller)).toEqual(new JsonText(JSON.stringify(changed)));
});
