import { expect, test } from "bun:test";
import { HttpError } from "../reply.ts";
import { Intake } from "./intake.ts";

const bodiesMax = 1_000_000;
const bodyMax = 900_000;

interface Upload {
  /** Sends this many bytes; `null` ends the body. */
  send(bytes: number | null): Promise<void>;
  /** Bytes received, or the reason of the rejection; `null` = still being received. */
  outcome(): number | string | null;
  connection(): string | undefined;
  end(): void;
}

function setup() {
  let now = 0;
  const intake = new Intake(bodiesMax, () => now);
  const upload = (declared: number | null): Upload => {
    let controller: ReadableStreamDefaultController | null = null;
    const stream = new ReadableStream({
      start(given) {
        controller = given;
      },
    });
    const headers = declared === null ? {} : { "content-length": String(declared) };
    const request = new Request("http://x/", { method: "POST", body: stream, headers });
    const body = intake.begin();
    let outcome: number | HttpError | null = null;
    intake.read(request, body, bodyMax).then(
      (bytes) => {
        outcome = bytes.byteLength;
      },
      (error) => {
        outcome = error;
      },
    );
    return {
      async send(bytes) {
        if (bytes === null) controller?.close();
        else controller?.enqueue(new Uint8Array(bytes));
        await settled();
      },
      outcome: () => (outcome instanceof HttpError ? outcome.reason : outcome),
      connection: () => (outcome instanceof HttpError ? outcome.headers["connection"] : undefined),
      end: () => intake.end(body),
    };
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { intake, upload, pass };
}

async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("intake: bytes that are announced but not received take no room", async () => {
  const { intake, upload } = setup();
  const stalled = Array.from({ length: 50 }, () => upload(800_000));
  await settled();
  expect(intake.bytes).toBe(0);
  const other = upload(700_000);
  await other.send(700_000);
  await other.send(null);
  expect(other.outcome()).toBe(700_000);
  expect(stalled.map(({ outcome }) => outcome())).toEqual(stalled.map(() => null));
});

test("intake: the slowest upload is rejected, whichever began first", async () => {
  const { intake, upload, pass } = setup();
  const [quick, stalled] = [upload(800_000), upload(800_000)];
  await quick.send(400_000);
  await stalled.send(300_000);
  pass(2_000);
  const other = upload(800_000);
  await other.send(200_000);
  expect([quick.outcome(), stalled.outcome(), other.outcome()]).toEqual([null, "full", null]);
  expect(stalled.connection()).toBe("close");
  expect(intake.bytes).toBe(600_000);
  stalled.end();
  expect(intake.bytes).toBe(600_000);
});

test("intake: if none is slow yet, the newest upload is rejected", async () => {
  const { intake, upload } = setup();
  const [first, second] = [upload(800_000), upload(800_000)];
  await first.send(400_000);
  await second.send(400_000);
  expect([first.outcome(), second.outcome()]).toEqual([null, "full"]);
  second.end();
  expect(intake.bytes).toBe(400_000);
});

test("intake: an upload that is itself the slowest is rejected", async () => {
  const { upload, pass } = setup();
  const slow = upload(null);
  await slow.send(100_000);
  pass(2_000);
  const quick = upload(800_000);
  await quick.send(600_000);
  await slow.send(100_000);
  expect([slow.outcome(), quick.outcome()]).toEqual(["full", null]);
});

test("intake: large bodies leave room for small calls", async () => {
  const { upload } = setup();
  const large = upload(750_000);
  await large.send(700_000);
  const other = upload(200_000);
  await other.send(100_000);
  expect(other.outcome()).toBe("full");
  for (let count = 0; count < 3; count += 1) {
    const small = upload(60_000);
    await small.send(60_000);
    await small.send(null);
    expect(small.outcome()).toBe(60_000);
  }
});

test("intake: small uploads are rejected only when no large one is left", async () => {
  const { intake, upload, pass } = setup();
  const small = upload(60_000);
  await small.send(30_000);
  const stalled = Array.from({ length: 3 }, () => upload(200_000));
  for (const { send } of stalled) await send(190_000);
  pass(2_000);
  const others = Array.from({ length: 14 }, () => upload(64_000));
  await settled();
  expect(stalled.map(({ outcome }) => outcome())).toEqual(["full", "full", "full"]);
  expect(small.outcome()).toBeNull();
  await small.send(30_000);
  await small.send(null);
  expect(small.outcome()).toBe(60_000);
  expect(others[0]?.outcome()).toBeNull();
  pass(2_000);
  expect(upload(64_000).outcome()).toBeNull();
  await settled();
  expect(others.filter(({ outcome }) => outcome() === "full")).toHaveLength(1);
  expect(intake.bytes).toBeLessThanOrEqual(bodiesMax);
});

test("intake: if requests are too many, the rate of a small upload counts all its bytes", async () => {
  const { intake, upload, pass } = setup();
  const stalled = upload(200_000);
  await stalled.send(100_000);
  pass(20_000);
  const small = upload(60_000);
  await small.send(30_000);
  pass(2_000);
  expect(intake.rejectSlowest()).toBe(true);
  await settled();
  expect([stalled.outcome(), small.outcome()]).toEqual(["full", null]);
});

test("intake: a complete body is not rejected, however long its request takes", async () => {
  const { intake, upload, pass } = setup();
  const whole = upload(60_000);
  await whole.send(60_000);
  await whole.send(null);
  pass(20_000);
  expect(intake.rejectSlowest()).toBe(false);
  expect([whole.outcome(), intake.bytes]).toEqual([60_000, 60_000]);
  whole.end();
  expect(intake.bytes).toBe(0);
});

test("intake: bodies received in one round of events wait for its end, and those of disconnected clients are dropped", async () => {
  const intake = new Intake(bodiesMax);
  const gone = new AbortController();
  const outcomes: string[] = [];
  const read = (signal: AbortSignal): void => {
    const request = new Request("http://x/", { method: "POST", body: "{}", signal });
    const noted = (outcome: string) => () => void outcomes.push(outcome);
    intake.read(request, intake.begin(), bodyMax).then(noted("read"), noted("refused"));
  };
  read(gone.signal);
  read(new AbortController().signal);
  // More microtasks than a promise needs, but still the same round.
  for (let tick = 0; tick < 50; tick += 1) await null;
  expect(outcomes).toEqual([]);
  gone.abort();
  await settled();
  expect(outcomes).toEqual(["refused", "read"]);
});

test("intake: a body larger than the whole budget is accepted when it is alone", async () => {
  const intake = new Intake(1_000);
  const body = intake.begin();
  const request = new Request("http://x/", { method: "POST", body: new Uint8Array(bodyMax) });
  expect((await intake.read(request, body, bodyMax)).byteLength).toBe(bodyMax);
  intake.end(body);
  expect(intake.bytes).toBe(0);
});

test("intake: a body that ends before its length is cut short", async () => {
  const { upload } = setup();
  const short = upload(200_000);
  await short.send(100_000);
  await short.send(null);
  expect(short.outcome()).toBe("malformed");
});
