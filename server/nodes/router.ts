// Routes calls to the owners of their shards: to this node's own shards or, with one hop, to the
// node that owns the shard. Any node accepts any call. A call whose shard has no owner waits for
// one until its time is up.

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
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { OperationId } from "../../openapi/operations.ts";
import { type NodeRow, ofShard } from "../../stores/nodes.ts";
import type { Answer, Call } from "../calls/call.ts";
import type { CallOutcome } from "../calls/call-client.ts";
import { answerOf, doneAnswer, errorAnswer, replyOf } from "../calls/call-server.ts";
import type { Log } from "../observability/log.ts";
import { requestSecondsBounds } from "../observability/request-counts.ts";
import { Caller, JsonText, type Route, type Routes } from "../routes/route.ts";
import { afterAnswer, afterFailure, afterReply } from "./attempt.ts";
import type { Membership } from "./membership.ts";
import { type Connect, Peer } from "./peer.ts";
import { argumentsOf, methodOf, operationOf, parsedOf, textOf } from "./shard-calls.ts";

/** For calls without a `request_timeout`. */
const timeoutMsDefault = 30_000;
/** The shortest `request_timeout` of the contract. */
const timeoutMsMin = 10;
/** How long this node waits past a call's deadline for an answer that the owner sent in time. */
const transitMs = 200;
/** How long a call waits for a change of ownership before it is attempted again. */
const changeMsMax = 250;
/** A node that cannot reach its database pauses after this many attempts at the other nodes. */
const staleTries = 8;
const staleMs = 10;

const noOwner = failure(
  "shutting_down",
  "no node owns the shard of the queue; nothing was changed",
);
const unreachableOwner = failure(
  "not_ready",
  "the owner of the shard is unreachable; nothing was changed, try again",
);

/** `moved`: the attempt had no effect. `lost`: its effect is unknown, and it may be repeated. */
type Outcome<T> =
  | { readonly is: "done"; readonly reply: T }
  | { readonly is: "moved" }
  | { readonly is: "lost" };

interface RoutedCall {
  readonly shard: number;
  readonly operation: OperationId;
  readonly caller: Caller;
}

interface LocalCall extends RoutedCall {
  /** The route of this node's shard. */
  readonly route: Route<OperationId>;
  readonly deadline: number;
}

interface ForwardedCall extends RoutedCall {
  /** When to stop waiting for the answer; `Infinity`: only when the connection ends. */
  readonly answerBy: number;
}

export interface RouterOptions {
  /** One for each database. */
  readonly memberships: readonly Membership[];
  /** The methods that other shards call; `null`: this node does not own the shard. */
  readonly localShard: (shard: number) => OtherShard | null;
  readonly clock: Clock;
  readonly connect: Connect;
  readonly log: Log;
}

/** How long to wait for the answer to a request to poll. */
const pollRequestMsMax = 2_000;

/** Calls between shards have no client that could hang up. */
const neverAborts = new AbortController();

export class Router {
  readonly #options: RouterOptions;
  readonly #peers = new Map<string, Peer>();
  /** URLs of nodes that were logged as unreachable; an answer removes the URL. */
  readonly #unreachable = new Set<string>();
  /** The routes of this node's shards, by shard. */
  readonly #local = new Map<number, Partial<Routes>>();
  /** The URL of the last known owner of each shard. */
  readonly #owners = new Map<number, string | null>();
  readonly #forwarded = new Map<OperationId, Observations>();
  #isLeaving = false;

  constructor(options: RouterOptions) {
    this.#options = options;
    for (const membership of options.memberships)
      membership.watchers.add(() => this.#ownersChanged(membership));
  }

  #of(shard: number): Membership {
    return ofShard(shard, this.#options.memberships);
  }

  /** Runs after each change of an owner, and after each failed poll. */
  #ownersChanged(membership: Membership): void {
    if (membership.isStale) {
      for (const shard of membership.openShards) void this.#findOwner(shard);
      return;
    }
    for (const { shard, url } of membership.view.shards) {
      const before = this.#owners.get(shard) ?? null;
      this.#owners.set(shard, url);
      // The former owner may not know that its leases can no longer be served.
      if (before !== null && before !== url) this.#peers.get(before)?.recall(shard);
    }
    for (const [url, peer] of this.#peers) if (this.#isGone(url)) peer.retire();
  }

  /** The node owns no shard and takes none. */
  #isGone(url: string): boolean {
    return this.#options.memberships.every(({ live, view }) => {
      const node = live.find((one) => one.url === url);
      return (node?.isDraining ?? true) && !view.shards.some((shard) => shard.url === url);
    });
  }

  /**
   * The other nodes that may own the shard, the last known owner first. If the database of the
   * shard is unreachable, nodes known from the other databases are included.
   */
  #others(shard: number): readonly NodeRow[] {
    const membership = this.#of(shard);
    const others = membership.others(shard);
    if (!membership.isStale) return others;
    const known = new Map(others.map((node) => [node.url, node]));
    for (const database of this.#options.memberships) {
      if (!database.isStale) for (const node of database.others(shard)) known.set(node.url, node);
    }
    return [...known.values()];
  }

  /** While the database is unreachable, calls all other nodes: only the owner answers. */
  async #findOwner(shard: number): Promise<void> {
    const caller = new Caller({ client: neverAborts, requestKey: null });
    // A late answer shows the owner as well.
    const answerBy = Number.POSITIVE_INFINITY;
    const body = { pivot: "", limit: 1 } as never;
    // All at once, because a stopped node does not answer.
    const calls = this.#others(shard).map((node) =>
      this.#forward(node, body, { shard, operation: "listQueues", caller, answerBy }),
    );
    await Promise.allSettled(calls);
  }

  #now(): number {
    return this.#options.clock.precise();
  }

  /** The body with the time that is left as its `request_timeout`. */
  #withTimeLeft(body: { readonly request_timeout?: string | null }, deadline: number): never {
    const ms = Math.max(timeoutMsMin, Math.round(deadline - this.#now()));
    const left = typeof body.request_timeout === "string" ? { request_timeout: `${ms}ms` } : {};
    return { ...body, ...left } as never;
  }

  /** Seconds until another node answered, by operation. */
  get forwarded(): ReadonlyMap<OperationId, Observations> {
    return this.#forwarded;
  }

  get peersUp(): number {
    return this.#peers
      .values()
      .filter(({ isOver }) => !isOver)
      .toArray().length;
  }

  /** Wraps the routes of a shard: each call goes to the shard's owner. */
  around<Local extends object>(local: Local, shard: number): Local {
    this.#local.set(shard, local);
    const routed = Object.entries(local).map(([id, route]) => {
      const operation = id as OperationId;
      return [
        operation,
        (body: never, caller: Caller) =>
          this.#route(body, { shard, operation, route: route as never, caller }),
      ];
    });
    return Object.fromEntries(routed) as Local;
  }

  async #route(body: never, call: Omit<LocalCall, "deadline">) {
    const { shard, operation, caller } = call;
    const membership = this.#of(shard);
    const { elsewhereMsMax } = caller;
    const deadline = this.#now() + (elsewhereMsMax ?? timeoutMs(body) ?? timeoutMsDefault);
    const answerBy = answerByOf(body, { deadline, elsewhereMsMax });
    let isLost = false;
    let timed = body;
    for (let tries = 1; ; tries += 1) {
      const { version } = membership.watchers;
      const outcome = await (membership.isTrusted(shard)
        ? this.#callLocal(timed, { ...call, deadline })
        : this.#callOwner(timed, { shard, operation, caller, answerBy }));
      if (outcome.is === "done") return outcome.reply;
      if (outcome.is === "lost") isLost = true;
      const isOver = this.#now() >= deadline || caller.signal.aborted;
      const isParked = operation === "lease" && this.#isLeaving;
      if (isOver || isParked || membership.isLast) {
        if (elsewhereMsMax !== null) throw QueueError.from(unreachableOwner);
        throw QueueError.from(failureOf(operation, { isLost, isParked }));
      }
      // Nodes without a database would send a call back and forth by their outdated rows.
      if (membership.isStale && tries % staleTries === 0) await this.#pause(staleMs);
      await membership.watchers.nextChange(version, Math.min(changeMsMax, deadline - this.#now()));
      timed = this.#withTimeLeft(body, deadline);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void after(this.#options.clock, ms, resolve));
  }

  /** Attempts the call at this node's own shard. */
  async #callLocal(
    body: never,
    { shard, operation, route, caller, deadline }: LocalCall,
  ): Promise<Outcome<unknown>> {
    const membership = this.#of(shard);
    try {
      const reply = await route(body, caller);
      const isTrusted = membership.isTrusted(shard);
      const is = afterReply(operation, { isReplayed: caller.isReplayed, isTrusted });
      return is === "done" ? { is, reply } : { is };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const is = afterFailure(error, {
        ...{ operation, isKeyed: caller.requestKey !== null },
        isOwner: membership.isOwner(shard),
        isTrusted: membership.isTrusted(shard),
        isLate: this.#now() >= deadline,
      });
      if (is === "failed") throw error;
      return { is };
    }
  }

  /**
   * Attempts the call at the owner of the shard. While the database is unreachable, this node does
   * not know the owner and calls each of the others.
   */
  async #callOwner(body: never, call: ForwardedCall): Promise<Outcome<JsonText>> {
    const { shard } = call;
    const membership = this.#of(shard);
    const others = this.#others(shard);
    const owner = membership.ownerNode(shard)?.url;
    let outcome: Outcome<JsonText> = { is: "moved" };
    for (const node of membership.isStale ? others : others.filter(({ url }) => url === owner)) {
      if (call.caller.signal.aborted || this.#now() >= call.answerBy) break;
      outcome = await this.#forward(node, body, call);
      if (outcome.is !== "moved") break;
    }
    return outcome;
  }

  async #forward(
    node: NodeRow,
    body: never,
    { shard, operation, caller, answerBy }: ForwardedCall,
  ): Promise<Outcome<JsonText>> {
    const { requestKey, identity } = caller;
    const request = { operation, shard, body: caller.jsonOf(body), requestKey };
    const call = { ...request, ...(identity && { identity }) };
    const isKeyed = requestKey !== null;
    const begunAt = this.#now();
    const answer = await this.#peer(node).call(call, caller, answerBy - begunAt);
    if (answer.is !== "unsent") {
      const seconds = () => new Observations(requestSecondsBounds);
      const observed = this.#forwarded.getOrInsertComputed(operation, seconds);
      observed.add((this.#now() - begunAt) / 1_000);
      this.#unreachable.delete(node.url);
    }
    const membership = this.#of(shard);
    if (answer.is === "done" || answer.is === "failure") membership.stepDown(shard);
    if (answer.is === "moved") {
      void membership.poll();
      if (answer.owner !== null) membership.discover(answer.owner);
    }
    const is = afterAnswer(answer, { operation, isKeyed });
    switch (is) {
      case "done":
        return { is, reply: replyOf(answer as Answer, caller) };
      case "unknown":
        throw QueueError.from(unknownOutcome);
      case "lost":
      case "moved":
        return { is };
    }
  }

  #peer(node: NodeRow): Peer {
    const open = this.#peers.get(node.url);
    if (open !== undefined && !open.isOver) return open;
    const { clock, connect, log } = this.#options;
    const unreached = (why: string): void => {
      const { url } = node;
      // Logged once, although each call tries again.
      if (!this.#unreachable.has(url)) log.warn("node unreachable", { url, why });
      this.#unreachable.add(url);
    };
    const peer = new Peer(node, { clock, connect, unreached });
    this.#peers.set(node.url, peer);
    return peer;
  }

  /** Calls a shard of another node; throws `not_ready` if that node is unreachable. */
  async callShard(shard: number, method: keyof OtherShard, given: readonly unknown[]) {
    const call = { operation: operationOf(method), shard, body: textOf(given), requestKey: null };
    let answer = await this.#sendToOwner(shard, call);
    // Do not wait for a poll of an unreachable database; its polls continue on their own.
    if ((answer === null || answer.is === "moved") && !this.#of(shard).isStale) {
      await this.#of(shard).poll();
      answer = await this.#sendToOwner(shard, call);
    }
    const isAnswered = answer !== null && ["done", "failure", "refusal"].includes(answer.is);
    if (!isAnswered) throw QueueError.from(unreachableOwner);
    const caller = new Caller({ client: neverAborts, requestKey: null });
    return parsedOf(replyOf(answer as Answer, caller).text);
  }

  /** `null`: the owner is not known. */
  async #sendToOwner(shard: number, call: Call): Promise<CallOutcome | null> {
    const membership = this.#of(shard);
    const owner = membership.ownerNode(shard)?.url;
    const node = membership.others(shard).find(({ url }) => url === owner);
    if (node === undefined) return null;
    return await this.#peer(node).call(call, neverAborts, Number.POSITIVE_INFINITY);
  }

  /** Serves a call that another node forwarded. It is not forwarded again: one hop is the limit. */
  async serve(call: Call, caller: Caller): Promise<Answer> {
    const { shard } = call;
    if (shard === null) throw new Error(`call of ${call.operation} names no shard`);
    const method = methodOf(call.operation);
    if (method !== null) return await this.#serveShard(shard, method, call.body, caller);
    const operation = call.operation as OperationId;
    const body = JSON.parse(call.body) as never;
    const route = this.#local.get(shard)?.[operation] as Route<OperationId> | undefined;
    const deadline = this.#now() + (timeoutMs(body) ?? timeoutMsDefault);
    const membership = this.#of(shard);
    // The other node may have read an ownership that this one has not.
    if (!(membership.isOwner(shard) || membership.isChanging(shard))) await membership.poll();
    const timed = await this.#afterChange(body, { shard, deadline, caller });
    if (route === undefined || !this.#of(shard).isTrusted(shard)) return this.#moved(shard);
    try {
      const outcome = await this.#callLocal(timed, { shard, operation, route, caller, deadline });
      if (outcome.is === "done") return doneAnswer(outcome.reply, caller);
      await this.#afterChange(timed, { shard, deadline, caller });
      return outcome.is === "moved" ? this.#moved(shard) : outcome;
    } catch (error) {
      return errorAnswer(error);
    }
  }

  async #serveShard(
    shard: number,
    method: keyof OtherShard,
    text: string,
    caller: Caller,
  ): Promise<Answer> {
    const other = this.#options.localShard(shard);
    if (other === null) return this.#moved(shard);
    const call = other[method] as (...given: unknown[]) => Promise<unknown>;
    const result = call(...argumentsOf(text));
    return await answerOf(
      result.then((value) => new JsonText(textOf(value))),
      caller,
    );
  }

  #moved(shard: number): Answer {
    return { is: "moved", owner: this.#of(shard).ownerNode(shard) };
  }

  /**
   * Waits while the shard is being opened or handed over, and returns the body with the time that
   * is left. After `moved`, the other node polls for the new owner at once, so that must exist by
   * then.
   */
  async #afterChange(
    body: never,
    { shard, deadline, caller }: Pick<LocalCall, "shard" | "deadline" | "caller">,
  ): Promise<never> {
    const membership = this.#of(shard);
    let timed = body;
    while (membership.isChanging(shard) && this.#now() < deadline && !caller.signal.aborted) {
      const leftMs = Math.min(changeMsMax, deadline - this.#now());
      await membership.watchers.nextChange(membership.watchers.version, leftMs);
      timed = this.#withTimeLeft(timed, deadline);
    }
    return timed;
  }

  /** Makes another node poll, as it does on a call for a shard that it does not own. */
  async requestPoll(shard: number, node: NodeRow): Promise<void> {
    const body = { pivot: "", limit: 1 };
    const call = {
      operation: "listQueues",
      shard,
      body: JSON.stringify(body),
      requestKey: null,
    } as const;
    await this.#peer(node).call(call, neverAborts, pollRequestMsMax);
  }

  /** This node hands over its shards, or has done so, and accepts no connections of other nodes. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Recalls the leases that wait at other nodes, so that their clients can go to another node. */
  leave(): void {
    this.#isLeaving = true;
    for (const peer of this.#peers.values()) peer.retire();
  }

  close(): void {
    for (const peer of this.#peers.values()) peer.close();
  }
}

function failureOf(
  operation: OperationId,
  { isLost, isParked }: { readonly isLost: boolean; readonly isParked: boolean },
): Failure {
  if (isLost) return unknownOutcome;
  if (isParked) return closingFailure;
  return operation === "lease" ? emptyLease : noOwner;
}

/** When to give up waiting for the answer of another node. */
function answerByOf(
  body: { readonly request_timeout?: string | null },
  {
    deadline,
    elsewhereMsMax,
  }: { readonly deadline: number; readonly elsewhereMsMax: number | null },
): number {
  if (elsewhereMsMax !== null) return deadline;
  return timeoutMs(body) === null ? Number.POSITIVE_INFINITY : deadline + transitMs;
}

function timeoutMs(body: { readonly request_timeout?: string | null }): number | null {
  const { request_timeout: text } = body;
  const parsed = typeof text === "string" ? parseDuration(text) : null;
  return parsed?.ok === true ? parsed.ms : null;
}
