// The outcomes of one attempt of a call, case by case.

import { expect, test } from "bun:test";
import {
  closingFailure,
  failure,
  unknownOutcome,
  unknownShardFailure,
} from "../../engine/model/errors.ts";
import { afterAnswer, afterFailure, afterReply } from "./attempt.ts";

test.each([
  ["stats", { isReplayed: false, isTrusted: true }, "done"],
  ["stats", { isReplayed: false, isTrusted: false }, "moved"],
  ["produce", { isReplayed: false, isTrusted: false }, "done"],
  ["produce", { isReplayed: true, isTrusted: false }, "lost"],
  ["updateQueue", { isReplayed: false, isTrusted: false }, "lost"],
  ["reload", { isReplayed: false, isTrusted: false }, "lost"],
  ["clear", { isReplayed: false, isTrusted: false }, "lost"],
  ["clear", { isReplayed: false, isTrusted: true }, "done"],
] as const)("a reply to %s with %j: %s", (operation, replied, expected) => {
  expect(afterReply(operation, replied)).toBe(expected);
});

const owner = { isOwner: true, isTrusted: true, isLate: false };
const former = { isOwner: false, isTrusted: false, isLate: false };
const unready = failure("not_ready", "the shard is not ready; nothing was changed, try again");
const inPart = failure("in_part", "some of it was done");
const full = failure("full", "too many requests wait for the store; try again later");

test.each([
  ["produce", unknownShardFailure, { ...former, isKeyed: false }, "failed"],
  ["produce", closingFailure, { ...owner, isKeyed: false }, "moved"],
  ["produce", unready, { ...owner, isKeyed: false }, "moved"],
  ["produce", unready, { ...owner, isLate: true, isKeyed: false }, "failed"],
  ["produce", unready, { ...former, isLate: true, isKeyed: false }, "moved"],
  ["clear", inPart, { ...former, isKeyed: false }, "failed"],
  ["produce", full, { ...owner, isKeyed: false }, "failed"],
  ["produce", full, { ...former, isKeyed: false }, "moved"],
  ["produce", unknownOutcome, { ...owner, isKeyed: true }, "failed"],
  ["produce", unknownOutcome, { ...former, isKeyed: true }, "lost"],
  ["produce", unknownOutcome, { ...former, isKeyed: false }, "failed"],
  ["pause", unknownOutcome, { ...former, isKeyed: false }, "lost"],
] as const)("a failure of %s, %j, with %j: %s", (operation, failed, at, expected) => {
  expect(afterFailure(failed, { operation, ...at })).toBe(expected);
});

const gone = failure("client_gone", "the client has hung up");

test.each([
  ["produce", { is: "moved", owner: null }, false, "moved"],
  ["produce", { is: "unsent" }, false, "moved"],
  ["produce", { is: "lost" }, false, "unknown"],
  ["produce", { is: "lost" }, true, "lost"],
  ["redrive", { is: "lost" }, false, "unknown"],
  ["lease", { is: "lost" }, false, "lost"],
  ["resume", { is: "lost" }, false, "lost"],
  ["clear", { is: "lost" }, false, "lost"],
  ["stats", { is: "lost" }, false, "lost"],
  ["lease", { is: "failure", failure: gone }, false, "moved"],
  ["produce", { is: "failure", failure: full }, false, "done"],
  ["produce", { is: "done", text: "{}", isReplayed: false }, false, "done"],
  ["produce", { is: "failed" }, false, "done"],
] as const)("an answer to %s, %j, keyed %p: %s", (operation, answer, isKeyed, expected) => {
  expect(afterAnswer(answer, { operation, isKeyed })).toBe(expected);
});
