// Where a call is done: here, where this node has the shards, else by the node that has them. Any
// node takes any call, and one that finds nobody waits until its time is up.

import { after, type Clock } from "../../engine/model/clock.ts";
import { parseDuration } from "../../engine/model/duration.ts";
import {
  closingFailure,
  emptyLease,
  type Failure,
  failure,
  QueueError,
  unknownOutcome,
} from "../../engine/model/errors.ts";
import { Observations } from "../../engine/model/histogram.ts";
import type { OperationId } from "../../openapi/operations.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import type { Answer, Call } from "../calls/call.ts";
import { doneAnswer, errorAnswer, replyOf } from "../calls/call-server.ts";
import type { Log } from "../log.ts";
import { requestSecondsBounds } from "../request-counts.ts";
import { Caller, type JsonText, type Route, type Routes } from "../routes/route.ts";
import type { Membership } from "./membership.ts";
import { type Connect, Peer } from "./peer.ts";

/** Calls that change nothing. */
const looks = new Set<OperationId>([
  "listQueues",
  "queueInfo",
  "stats",
  "inspect",
  "explain",
  "clients",
  "overview",
  "series",
  "listItems",
  "listScheduled",
  "findItems",
  "groupItems",
  "getItem",
  "explainItem",
  "listTasks",
  "taskInfo",
  "listActions",
]);
/** And those that commit nothing where there is nothing to change: they may be done again as well. */
const repeatable = new Set<OperationId>([...looks, "updateQueue", "pause", "resume", "clear"]);

/** Of a call that has no `request_timeout`. */
const timeoutMsDefault = 30_000;
/** The shortest that a call may have. */
const timeoutMsMin = 10;
/** How long after a call's time is up its answer, which the owner gave in time, may be on its way. */
const onItsWayMs = 200;
/** How long until it looks again by itself for who has the shards. */
const changeMsMax = 250;
/** After so many tries a node that is cut off waits for so long until it asks the others again. */
const staleTries = 8;
const staleMs = 10;

const notOwner = failure("shutting_down", "no node has the shards; nothing was changed");

/** `moved`: it did nothing, and is to be done where the shards are. `lost`: the same, if it may be done twice. */
type Outcome<T> =
  | { readonly is: "done"; readonly reply: T }
  | { readonly is: "moved" }
  | { readonly is: "lost" };

interface Asked {
  readonly operation: OperationId;
  readonly caller: Caller;
}

interface Work extends Asked {
  readonly route: Route<OperationId>;
}

interface ToDo extends Work {
  readonly deadline: number;
}

interface ToForward extends Asked {
  /** Until then an answer is waited for; `Infinity`: as long as the node that has the shards lives. */
  readonly answerBy: number;
}

export interface RouterOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  readonly log: Log;
}

export class Router {
  readonly #membership: Membership;
  readonly #options: RouterOptions;
  readonly #peers = new Map<string, Peer>();
  /** Of which that was told, since they answered last. */
  readonly #unreached = new Set<string>();
  #local: Partial<Routes> = {};
  readonly #forwarded = new Map<OperationId, Observations>();
  #isLeaving = false;

  constructor(membership: Membership, options: RouterOptions) {
    this.#membership = membership;
    this.#options = options;
    membership.watch(() => {
      // Nothing comes any more where the shards were, and nobody there may know it.
      for (const [url, peer] of this.#peers) {
        if (url !== membership.owner?.url && !membership.isStale) peer.retire();
      }
      if (membership.isOwner && membership.isStale) void this.#lookForOwner();
    });
  }

  /** Cut off from the database, it asks for anything: whoever answers has the shards by now. */
  async #lookForOwner(): Promise<void> {
    const caller = new Caller({ client: new AbortController(), requestKey: null });
    // Late or not, an answer shows that another node serves.
    const answerBy = Number.POSITIVE_INFINITY;
    const body = { pivot: "", limit: 1 } as never;
    // All at once: one that is stopped says nothing, and may be the first.
    const asked = this.#membership.others.map((node) =>
      this.#forward(node, body, { operation: "listQueues", caller, answerBy }),
    );
    await Promise.allSettled(asked);
  }

  #now(): number {
    return this.#options.clock.precise();
  }

  /** The same call with what is left of its caller's time. */
  #withTimeLeft(body: { readonly request_timeout?: string | null }, deadline: number): never {
    const ms = Math.max(timeoutMsMin, Math.round(deadline - this.#now()));
    const left = typeof body.request_timeout === "string" ? { request_timeout: `${ms}ms` } : {};
    return { ...body, ...left } as never;
  }

  /** Seconds until another node had answered the calls that reached it, by what they asked for. */
  get forwarded(): ReadonlyMap<OperationId, Observations> {
    return this.#forwarded;
  }

  get peersUp(): number {
    return this.#peers
      .values()
      .filter(({ isOver }) => !isOver)
      .toArray().length;
  }

  /** The same routes for a caller of any node. */
  around<Local extends object>(local: Local): Local {
    this.#local = local;
    const routed = Object.entries(local).map(([id, route]) => {
      const operation = id as OperationId;
      return [
        operation,
        (body: never, caller: Caller) =>
          this.#route(body, { operation, route: route as never, caller }),
      ];
    });
    return Object.fromEntries(routed) as Local;
  }

  async #route(body: never, work: Work) {
    const { operation, caller } = work;
    const membership = this.#membership;
    const deadline = this.#now() + (timeoutMs(body) ?? timeoutMsDefault);
    const answerBy = timeoutMs(body) === null ? Number.POSITIVE_INFINITY : deadline + onItsWayMs;
    let isLost = false;
    let left = body;
    for (let tries = 1; ; tries += 1) {
      const { version } = membership;
      const outcome = await (membership.isTrusted
        ? this.#here(left, { ...work, deadline })
        : this.#there(left, { operation, caller, answerBy }));
      if (outcome.is === "done") return outcome.reply;
      if (outcome.is === "lost") isLost = true;
      const isOver = this.#now() >= deadline || caller.signal.aborted;
      const isParked = operation === "lease" && this.#isLeaving;
      if (isOver || isParked || membership.isLast) {
        throw QueueError.from(undone(operation, { isLost, isParked }));
      }
      // Nodes that are cut off tell each other what each of them knew last, again and again.
      if (membership.isStale && tries % staleTries === 0) await this.#pause(staleMs);
      await membership.change(version, Math.min(changeMsMax, deadline - this.#now()));
      left = this.#withTimeLeft(body, deadline);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void after(this.#options.clock, ms, resolve));
  }

  /**
   * Does it with the shards of this node. What they said is told where a commit stands behind it,
   * or where nobody else can have them by now.
   */
  async #here(
    body: never,
    { operation, route, caller, deadline }: ToDo,
  ): Promise<Outcome<unknown>> {
    const membership = this.#membership;
    const isKeyed = caller.requestKey !== null;
    try {
      const reply = await route(body, caller);
      const isFromMemory = repeatable.has(operation) || caller.isReplayed;
      if (membership.isTrusted || !isFromMemory) return { is: "done", reply };
      return { is: looks.has(operation) ? "moved" : "lost" };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code, reason } = error;
      // Shards that are not ready are this node's all the same, and it is told once its time is up.
      const isUnready = reason === "not_ready" && this.#now() >= deadline;
      if (code === "closing" && !isUnready) return { is: "moved" };
      // Both tell of what was committed.
      if (reason === "in_part") throw error;
      const isRepeatable = repeatable.has(operation) || isKeyed;
      if (code === "unknown" && isRepeatable && !membership.isOwner) return { is: "lost" };
      if (code !== "unknown" && !membership.isTrusted) return { is: "moved" };
      throw error;
    }
  }

  /**
   * What the node that has the shards said to it. One that has not seen the database for long does
   * not know which that is, and asks each.
   */
  async #there(body: never, work: ToForward): Promise<Outcome<JsonText>> {
    const { owner, others, isStale } = this.#membership;
    let outcome: Outcome<JsonText> = { is: "moved" };
    for (const node of isStale ? others : others.filter(({ url }) => url === owner?.url)) {
      if (work.caller.signal.aborted || this.#now() >= work.answerBy) break;
      outcome = await this.#forward(node, body, work);
      if (outcome.is !== "moved") break;
    }
    return outcome;
  }

  async #forward(
    node: NodeRow,
    body: never,
    { operation, caller, answerBy }: ToForward,
  ): Promise<Outcome<JsonText>> {
    const { requestKey, grant } = caller;
    const asked = { operation, shard: null, body: caller.jsonOf(body), requestKey };
    const call = { ...asked, ...(grant && { grant }) };
    const begunAt = this.#now();
    const answer = await this.#peer(node).call(call, caller, answerBy - begunAt);
    if (answer.is !== "unsent") {
      const seconds = () => new Observations(requestSecondsBounds);
      const observed = this.#forwarded.getOrInsertComputed(operation, seconds);
      observed.add((this.#now() - begunAt) / 1_000);
      this.#unreached.delete(node.url);
    }
    if (answer.is === "done" || answer.is === "failure") this.#membership.depose();
    switch (answer.is) {
      case "lost":
        // Another node may still serve a lease; what the lost answer granted lapses.
        if (operation === "lease") return answer;
        if (requestKey === null && !repeatable.has(operation))
          throw QueueError.from(unknownOutcome);
        return answer;
      case "moved":
        void this.#membership.look();
        if (answer.owner !== null) this.#membership.hear(answer.owner);
        return answer;
      case "unsent":
        return { is: "moved" };
      default:
        // It was called back.
        if (answer.is === "failure" && answer.failure.reason === "client_gone") {
          return { is: "moved" };
        }
        return { is: "done", reply: replyOf(answer, caller) };
    }
  }

  #peer(node: NodeRow): Peer {
    const open = this.#peers.get(node.url);
    if (open !== undefined && !open.isOver) return open;
    const { clock, connect, log } = this.#options;
    const unreached = (why: string): void => {
      const { url } = node;
      // Once: it is tried again with each call.
      if (!this.#unreached.has(url)) log.warn("a node cannot be reached", { url, why });
      this.#unreached.add(url);
    };
    const peer = new Peer(node, { clock, connect, unreached });
    this.#peers.set(node.url, peer);
    return peer;
  }

  /** Does what another node forwards. An owner never forwards: one hop is the limit. */
  async serve({ operation: id, body: text }: Call, caller: Caller): Promise<Answer> {
    const operation = id as OperationId;
    const body = JSON.parse(text) as never;
    const route = this.#local[operation] as Route<OperationId> | undefined;
    const deadline = this.#now() + (timeoutMs(body) ?? timeoutMsDefault);
    const left = await this.#settled(body, { deadline, caller });
    if (route === undefined || !this.#membership.isTrusted) return this.#moved();
    try {
      const outcome = await this.#here(left, { operation, route, caller, deadline });
      if (outcome.is === "done") return doneAnswer(outcome.reply, caller);
      await this.#settled(left, { deadline, caller });
      return outcome.is === "moved" ? this.#moved() : outcome;
    } catch (error) {
      return errorAnswer(error);
    }
  }

  #moved(): Answer {
    return { is: "moved", owner: this.#membership.ownerNode };
  }

  /**
   * The call, with what is left of its time once the shards are open here, or anyone's: who hears
   * that they have moved looks for them at once.
   */
  async #settled(
    body: never,
    { deadline, caller }: { readonly deadline: number; readonly caller: Caller },
  ): Promise<never> {
    const membership = this.#membership;
    let left = body;
    while (membership.isChanging && this.#now() < deadline && !caller.signal.aborted) {
      const leftMs = Math.min(changeMsMax, deadline - this.#now());
      await membership.change(membership.version, leftMs);
      left = this.#withTimeLeft(left, deadline);
    }
    return left;
  }

  /** It hands over, or has: nobody is to be connected any more. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Leases that wait elsewhere come back, and go on at another node. */
  leave(): void {
    this.#isLeaving = true;
    for (const peer of this.#peers.values()) peer.retire();
  }

  close(): void {
    for (const peer of this.#peers.values()) peer.close();
  }
}

function undone(
  operation: OperationId,
  { isLost, isParked }: { readonly isLost: boolean; readonly isParked: boolean },
): Failure {
  if (isLost) return unknownOutcome;
  if (isParked) return closingFailure;
  return operation === "lease" ? emptyLease : notOwner;
}

function timeoutMs(body: { readonly request_timeout?: string | null }): number | null {
  const { request_timeout: text } = body;
  const parsed = typeof text === "string" ? parseDuration(text) : null;
  return parsed?.ok === true ? parsed.ms : null;
}
