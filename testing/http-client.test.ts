import { expect, test } from "bun:test";
import { Connection } from "./http-client.ts";

/** A raw server that answers the n-th request with these pieces in sequence. */
function scripted(replies: readonly (readonly string[])[]) {
  let next = 0;
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket) {
        const pieces = replies[next] ?? [];
        next += 1;
        for (const piece of pieces) {
          // The system accepts only as much as fits its buffer.
          for (let left = Buffer.from(piece); left.length > 0; ) {
            left = left.subarray(socket.write(left));
            if (left.length > 0) await Bun.sleep(1);
          }
          socket.flush();
          // Long enough for the piece to arrive alone; if it does not, the test is only weaker.
          await Bun.sleep(2);
        }
        if (pieces.length === 0) socket.end();
      },
    },
  });
  return { port: listener.port, [Symbol.dispose]: () => listener.stop(true) };
}

function reply(status: number, body: string, header = "Content-Length"): string {
  return `HTTP/1.1 ${status} OK\r\nDate: now\r\n${header}: ${body.length}\r\n\r\n${body}`;
}

test("post: consecutive replies of different lengths, heads and statuses", async () => {
  const long = "x".repeat(100_000);
  using server = scripted([
    [reply(200, "a")],
    [reply(454, "b".repeat(12))],
    [reply(200, "", "content-length")],
    [reply(200, long)],
    [reply(200, "c")],
  ]);
  const connection = await Connection.open(server.port);
  const replies = [];
  for (let index = 0; index < 5; index += 1) replies.push(await connection.post("/", "{}"));
  expect(replies).toEqual([
    { status: 200, body: "a" },
    { status: 454, body: "b".repeat(12) },
    { status: 200, body: "" },
    { status: 200, body: long },
    { status: 200, body: "c" },
  ]);
  connection.close();
});

test("post: a reply in pieces, cut anywhere", async () => {
  const whole = reply(200, "0123456789");
  const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
  using server = scripted([
    ...cuts.map((cut) => [whole.slice(0, cut), whole.slice(cut)]),
    [...whole],
  ]);
  const connection = await Connection.open(server.port);
  for (let index = 0; index <= cuts.length; index += 1) {
    expect(await connection.post("/", "{}")).toEqual({ status: 200, body: "0123456789" });
  }
  connection.close();
});

test("post: a closed connection fails the call and the next ones", async () => {
  using server = scripted([[]]);
  const connection = await Connection.open(server.port);
  const closed = "the server closed the connection";
  await expect(connection.post("/", "{}")).rejects.toThrow(closed);
  await expect(connection.post("/", "{}")).rejects.toThrow(closed);
});
