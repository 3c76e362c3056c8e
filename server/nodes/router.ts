// Where a call is done: here, where this node has the shard, else by the node that has it. Any node
// takes any call, and one for a shard that no node has waits until its time is up.

import { after, type Clock } from "../../engine/model/clock.ts";
import { parseDuration } from "../../engine/model/duration.ts";
import {
  closingFailure,
  emptyLease,
  type Failure,
  failure,
  isFailure,
  QueueError,
  unknownOutcome,
  unknownShardFailure,
} from "../../engine/model/errors.ts";
import { Observations } from "../../engine/model/histogram.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import { type OperationId, operationsThat } from "../../openapi/operations.ts";
import { type NodeRow, ofShard } from "../../stores/nodes.ts";
import type { Answer, Call } from "../calls/call.ts";
import type { Forwarded } from "../calls/call-client.ts";
import { answerOf, doneAnswer, errorAnswer, replyOf } from "../calls/call-server.ts";
import type { Log } from "../observability/log.ts";
import { requestSecondsBounds } from "../observability/request-counts.ts";
import { Caller, JsonText, type Route, type Routes } from "../routes/route.ts";
import type { Membership } from "./membership.ts";
import { type Connect, Peer } from "./peer.ts";
import { argumentsOf, methodOf, operationOf, parsedOf, textOf } from "./shard-calls.ts";

const looks = new Set(operationsThat("reads"));
/**
 * Calls that commit nothing if there is nothing to change. Their reply may come from memory, and they
 * may be done again; a clear then takes what was produced meanwhile too, as a later one would.
 */
const repeatable = new Set([...operationsThat("reads", "same"), "clear"]);

/** Of a call that has no `request_timeout`. */
const timeoutMsDefault = 30_000;
/** The shortest that a call may have. */
const timeoutMsMin = 10;
/** How long after a call's time is up its answer, which the owner gave in time, may be on its way. */
const onItsWayMs = 200;
/** How long until it looks again by itself for who has the shard. */
const changeMsMax = 250;
/** After so many tries a node that is cut off waits for so long until it asks the others again. */
const staleTries = 8;
const staleMs = 10;

const notOwner = failure(
  "shutting_down",
  "no node has the shard of the queue; nothing was changed",
);
const unreached = failure(
  "not_ready",
  "the node that has the shard cannot be reached; nothing was changed, try again",
);

/** `moved`: it did nothing, and is to be done where the shard is. `lost`: the same, if it may be done twice. */
type Outcome<T> =
  | { readonly is: "done"; readonly reply: T }
  | { readonly is: "moved" }
  | { readonly is: "lost" };

interface Asked {
  readonly shard: number;
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
  /** Until then an answer is waited for; `Infinity`: as long as the node that has the shard lives. */
  readonly answerBy: number;
}

export interface RouterOptions {
  /** One for each database. */
  readonly memberships: readonly Membership[];
  /** A shard that this node has, as others reach it; `null` = it has not. */
  readonly held: (shard: number) => OtherShard | null;
  readonly clock: Clock;
  readonly connect: Connect;
  readonly log: Log;
}

/** How long a node that is nudged may take to say so. */
const nudgeMsMax = 2_000;

/** What a shard asks of another one has no client that could hang up. */
const patient = new AbortController();

export class Router {
  readonly #options: RouterOptions;
  readonly #peers = new Map<string, Peer>();
  /** URLs of nodes whose failure is logged; cleared by an answer. */
  readonly #unreached = new Set<string>();
  /** By shard. */
  readonly #local = new Map<number, Partial<Routes>>();
  /** By shard, the node that had it last. */
  readonly #owners = new Map<number, string | null>();
  readonly #forwarded = new Map<OperationId, Observations>();
  #isLeaving = false;

  constructor(options: RouterOptions) {
    this.#options = options;
    for (const membership of options.memberships) membership.watch(() => this.#look(membership));
  }

  #of(shard: number): Membership {
    return ofShard(shard, this.#options.memberships);
  }

  /** After each change of an owner, and each look that failed. */
  #look(membership: Membership): void {
    if (membership.isStale) {
      for (const shard of membership.held) void this.#lookForOwner(shard);
      return;
    }
    for (const { shard, url } of membership.seen.shards) {
      const before = this.#owners.get(shard) ?? null;
      this.#owners.set(shard, url);
      // Nothing comes any more where the shard was, and that node may not know it.
      if (before !== null && before !== url) this.#peers.get(before)?.recall(shard);
    }
    for (const [url, peer] of this.#peers) if (this.#isGone(url)) peer.retire();
  }

  /** It has no shard, and does not want any. */
  #isGone(url: string): boolean {
    return this.#options.memberships.every(({ live, seen }) => {
      const node = live.find((one) => one.url === url);
      return (node?.isDraining ?? true) && !seen.shards.some((shard) => shard.url === url);
    });
  }

  /**
   * The others that may have the shard, its owner first. Cut off from its database, this node may know
   * them from another one.
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

  /** Cut off from the database, it asks for anything: a node that answers has the shard by now. */
  async #lookForOwner(shard: number): Promise<void> {
    const caller = new Caller({ client: patient, requestKey: null });
    // Late or not, an answer shows that another node serves.
    const answerBy = Number.POSITIVE_INFINITY;
    const body = { pivot: "", limit: 1 } as never;
    // All at once: one that is stopped says nothing, and may be the first.
    const asked = this.#others(shard).map((node) =>
      this.#forward(node, body, { shard, operation: "listQueues", caller, answerBy }),
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

  /** The routes of a shard for a caller of any node. */
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

  async #route(body: never, work: Work) {
    const { shard, operation, caller } = work;
    const membership = this.#of(shard);
    const { elsewhereMsMax } = caller;
    const deadline = this.#now() + (elsewhereMsMax ?? timeoutMs(body) ?? timeoutMsDefault);
    const answerBy = answerByOf(body, { deadline, elsewhereMsMax });
    let isLost = false;
    let left = body;
    for (let tries = 1; ; tries += 1) {
      const { version } = membership;
      const outcome = await (membership.isTrusted(shard)
        ? this.#here(left, { ...work, deadline })
        : this.#there(left, { shard, operation, caller, answerBy }));
      if (outcome.is === "done") return outcome.reply;
      if (outcome.is === "lost") isLost = true;
      const isOver = this.#now() >= deadline || caller.signal.aborted;
      const isParked = operation === "lease" && this.#isLeaving;
      if (isOver || isParked || membership.isLast) {
        if (elsewhereMsMax !== null) throw QueueError.from(unreached);
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
   * Does it with the shard of this node. What it said is told where a commit stands behind it, or
   * where no other node can have it by now.
   */
  async #here(
    body: never,
    { shard, operation, route, caller, deadline }: ToDo,
  ): Promise<Outcome<unknown>> {
    const membership = this.#of(shard);
    const isKeyed = caller.requestKey !== null;
    try {
      const reply = await route(body, caller);
      const isFromMemory = repeatable.has(operation) || caller.isReplayed;
      if (membership.isTrusted(shard) || !isFromMemory) return { is: "done", reply };
      return { is: looks.has(operation) ? "moved" : "lost" };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      // It is this one's to say: another shard is away.
      if (isFailure(error, unknownShardFailure)) throw error;
      const { code, reason } = error;
      // This node owns the shard though it is not ready: say so when the time of the call is up.
      const isUnready = reason === "not_ready" && this.#now() >= deadline;
      if (code === "closing" && !isUnready) return { is: "moved" };
      // Both tell of what was committed.
      if (reason === "in_part") throw error;
      const isRepeatable = repeatable.has(operation) || isKeyed;
      if (code === "unknown" && isRepeatable && !membership.isOwner(shard)) return { is: "lost" };
      if (code !== "unknown" && !membership.isTrusted(shard)) return { is: "moved" };
      throw error;
    }
  }

  /**
   * What the node that has the shard said to it. One that has not seen the database for long does
   * not know which that is, and asks each.
   */
  async #there(body: never, work: ToForward): Promise<Outcome<JsonText>> {
    const { shard } = work;
    const membership = this.#of(shard);
    const others = this.#others(shard);
    const url = membership.ownerOf(shard)?.url;
    let outcome: Outcome<JsonText> = { is: "moved" };
    for (const node of membership.isStale ? others : others.filter((one) => one.url === url)) {
      if (work.caller.signal.aborted || this.#now() >= work.answerBy) break;
      outcome = await this.#forward(node, body, work);
      if (outcome.is !== "moved") break;
    }
    return outcome;
  }

  async #forward(
    node: NodeRow,
    body: never,
    { shard, operation, caller, answerBy }: ToForward,
  ): Promise<Outcome<JsonText>> {
    const { requestKey, grant } = caller;
    const asked = { operation, shard, body: caller.jsonOf(body), requestKey };
    const call = { ...asked, ...(grant && { grant }) };
    const begunAt = this.#now();
    const answer = await this.#peer(node).call(call, caller, answerBy - begunAt);
    if (answer.is !== "unsent") {
      const seconds = () => new Observations(requestSecondsBounds);
      const observed = this.#forwarded.getOrInsertComputed(operation, seconds);
      observed.add((this.#now() - begunAt) / 1_000);
      this.#unreached.delete(node.url);
    }
    const membership = this.#of(shard);
    if (answer.is === "done" || answer.is === "failure") membership.depose(shard);
    switch (answer.is) {
      case "lost":
        // Another node may still serve a lease; what the lost answer granted lapses.
        if (operation === "lease") return answer;
        if (requestKey === null && !repeatable.has(operation))
          throw QueueError.from(unknownOutcome);
        return answer;
      case "moved":
        void membership.look();
        if (answer.owner !== null) membership.hear(answer.owner);
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

  /** Asks a shard that another node has; throws `not_ready` where that cannot be reached. */
  async ask(shard: number, method: keyof OtherShard, given: readonly unknown[]): Promise<unknown> {
    const asked = { operation: operationOf(method), shard, body: textOf(given), requestKey: null };
    let answer = await this.#askOwner(shard, asked);
    // A database that is away is looked at by itself, and shards of others do not wait for that.
    if ((answer === null || answer.is === "moved") && !this.#of(shard).isStale) {
      await this.#of(shard).look();
      answer = await this.#askOwner(shard, asked);
    }
    const isAnswered = answer !== null && ["done", "failure", "refusal"].includes(answer.is);
    if (!isAnswered) throw QueueError.from(unreached);
    const caller = new Caller({ client: patient, requestKey: null });
    return parsedOf(replyOf(answer as Answer, caller).text);
  }

  /** `null` = it is not known which node that is. */
  async #askOwner(shard: number, asked: Call): Promise<Forwarded | null> {
    const membership = this.#of(shard);
    const url = membership.ownerOf(shard)?.url;
    const node = membership.others(shard).find((one) => one.url === url);
    if (node === undefined) return null;
    return await this.#peer(node).call(asked, patient, Number.POSITIVE_INFINITY);
  }

  /** Does what another node forwards. An owner never forwards: one hop is the limit. */
  async serve(call: Call, caller: Caller): Promise<Answer> {
    const { shard } = call;
    if (shard === null) throw new Error(`${call.operation} was asked of a node, and of no shard`);
    const method = methodOf(call.operation);
    if (method !== null) return await this.#serveShard(shard, method, call.body, caller);
    const operation = call.operation as OperationId;
    const body = JSON.parse(call.body) as never;
    const route = this.#local.get(shard)?.[operation] as Route<OperationId> | undefined;
    const deadline = this.#now() + (timeoutMs(body) ?? timeoutMsDefault);
    const membership = this.#of(shard);
    // It may be about to be this node's.
    if (!(membership.isOwner(shard) || membership.isChanging(shard))) await membership.look();
    const left = await this.#settled(body, { shard, deadline, caller });
    if (route === undefined || !this.#of(shard).isTrusted(shard)) return this.#moved(shard);
    try {
      const outcome = await this.#here(left, { shard, operation, route, caller, deadline });
      if (outcome.is === "done") return doneAnswer(outcome.reply, caller);
      await this.#settled(left, { shard, deadline, caller });
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
    const other = this.#options.held(shard);
    if (other === null) return this.#moved(shard);
    const ask = other[method] as (...given: unknown[]) => Promise<unknown>;
    const asked = ask(...argumentsOf(text));
    return await answerOf(
      asked.then((value) => new JsonText(textOf(value))),
      caller,
    );
  }

  #moved(shard: number): Answer {
    return { is: "moved", owner: this.#of(shard).ownerNode(shard) };
  }

  /**
   * The call, with what is left of its time once the shard is open here, or anyone's: who hears that it
   * has moved looks for it at once.
   */
  async #settled(
    body: never,
    {
      shard,
      deadline,
      caller,
    }: { readonly shard: number; readonly deadline: number; readonly caller: Caller },
  ): Promise<never> {
    const membership = this.#of(shard);
    let left = body;
    while (membership.isChanging(shard) && this.#now() < deadline && !caller.signal.aborted) {
      const leftMs = Math.min(changeMsMax, deadline - this.#now());
      await membership.change(membership.version, leftMs);
      left = this.#withTimeLeft(left, deadline);
    }
    return left;
  }

  /** Has another node look now: a shard is free that is meant for it. */
  async nudge(shard: number, node: NodeRow): Promise<void> {
    const body = { pivot: "", limit: 1 };
    const call = {
      operation: "listQueues",
      shard,
      body: JSON.stringify(body),
      requestKey: null,
    } as const;
    await this.#peer(node).call(call, patient, nudgeMsMax);
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

/** Until when an answer of another node is waited for. */
function answerByOf(
  body: { readonly request_timeout?: string | null },
  {
    deadline,
    elsewhereMsMax,
  }: { readonly deadline: number; readonly elsewhereMsMax: number | null },
): number {
  if (elsewhereMsMax !== null) return deadline;
  return timeoutMs(body) === null ? Number.POSITIVE_INFINITY : deadline + onItsWayMs;
}

function timeoutMs(body: { readonly request_timeout?: string | null }): number | null {
  const { request_timeout: text } = body;
  const parsed = typeof text === "string" ? parseDuration(text) : null;
  return parsed?.ok === true ? parsed.ms : null;
}
