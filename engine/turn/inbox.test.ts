import { expect, test } from "bun:test";
import { failure, reopeningFailure } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Result } from "../model/messages.ts";
import type { Request } from "../operations.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { Inbox } from "./inbox.ts";

test("inbox: a request that is put back is answered in time, wherever it is in the line", async () => {
  const clock = new VirtualClock(0);
  const inbox = new Inbox({ clock, limits, arrived: () => undefined });
  const beforeSend = failure("late", "late");
  const afterSend = failure("unknown_outcome", "nobody knows");
  const answers: Record<string, Result> = {};
  const put = (name: string, deadline: number, late: typeof afterSend | null): void => {
    const request: Request = { kind: "stats", slots: [0] };
    const settle = (result: Result) => {
      answers[name] = result;
    };
    inbox.put(request, settle, { deadline, late: { beforeSend, afterSend: late } });
  };
  put("short", 50, afterSend);
  put("long", 100, null);
  expect(inbox.take()).toHaveLength(2);
  await clock.advance(50);
  inbox.putBack(new Set());
  await clock.advance(49);
  expect(answers).toEqual({ short: afterSend });
  await clock.advance(1);
  expect(answers).toEqual({ short: afterSend, long: beforeSend });
});

test("inbox: a request after the end is answered with the reason for the end", () => {
  const clock = new VirtualClock(0);
  const inbox = new Inbox({ clock, limits, arrived: () => undefined });
  inbox.close(reopeningFailure);
  const answers: Result[] = [];
  inbox.put({ kind: "stats", slots: [0] }, (result) => answers.push(result));
  expect(answers).toEqual([reopeningFailure]);
});
