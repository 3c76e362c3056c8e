// Where a call is done: here, where this node has the shards, else by the node that has them. Any
// node takes any call, and one that finds nobody waits until its time is up.

import { parseDuration } from "../../engine/duration.ts";
import { emptyLease, failure, QueueError, unknownOutcome } from "../../engine/errors.ts";
import type { OperationId } from "../../openapi/operations.ts";
import { type Caller, JsonText, type Route, type Routes } from "../routes/route.ts";
import type { Membership } from "./membership.ts";
import { Peer, type PeerAnswer, type PeerCall } from "./peer.ts";

/** Calls that change nothing, so that it does not matter whether one was done before. */
const looks = new Set<OperationId>([
  "listQueues",
  "queueInfo",
  "stats",
  "inspect",
  "listItems",
  "listScheduled",
]);

/** Of a call that has no `request_timeout`. */
const timeoutMsDefault = 30_000;
/** The shortest that a call may have. */
const timeoutMsMin = 10;
/** How long until it looks again by itself for who has the shards. */
const changeMsMax = 250;

const notOwner = failure("shutting_down", "no node has the shards; nothing was changed");

/** `moved`: it did nothing here, and is to be done where the shards are. */
type Outcome<T> = { readonly is: "done"; readonly reply: T } | { readonly is: "moved" };

export class Router {
  readonly #membership: Membership;
  readonly #peers = new Map<string, Peer>();
  #local: Partial<Routes> = {};
  #forwarded = 0;
  #isClosed = false;

  constructor(membership: Membership) {
    this.#membership = membership;
  }

  get forwarded(): number {
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
        (body: never, caller: Caller) => this.#route(operation, route as never, { body, caller }),
      ];
    });
    return Object.fromEntries(routed) as Local;
  }

  async #route(
    operation: OperationId,
    route: Route<OperationId>,
    { body, caller }: { readonly body: never; readonly caller: Caller },
  ) {
    const membership = this.#membership;
    const deadline = performance.now() + timeoutMs(body);
    for (let left = body; ; left = withTimeLeft(body, deadline)) {
      const { owner } = membership;
      if (membership.isOwner) {
        const outcome = await this.#here(operation, () => route(left, caller), caller);
        if (outcome.is === "done") return outcome.reply;
      } else if (owner !== null && !this.#isClosed) {
        const reply = await this.#there(owner.url, { operation, body: left }, caller);
        if (reply !== null) return reply;
      }
      const isOver = performance.now() >= deadline || caller.signal.aborted;
      if (isOver || membership.isLast) throw overdue(operation);
      await membership.change(Math.min(changeMsMax, deadline - performance.now()));
    }
  }

  /**
   * Does it with the shards of this node. What they said is told where a commit stands behind it,
   * or where nobody else can have them by now.
   */
  async #here<T>(
    operation: OperationId,
    work: () => Promise<T>,
    caller: Pick<Caller, "key">,
  ): Promise<Outcome<T>> {
    const membership = this.#membership;
    try {
      const reply = await work();
      return looks.has(operation) && !membership.isTrusted
        ? { is: "moved" }
        : { is: "done", reply };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code } = error;
      if (code === "closing") return { is: "moved" };
      const isRepeatable = looks.has(operation) || caller.key.requestKey !== undefined;
      if (code === "unknown" && isRepeatable && !membership.isOwner) return { is: "moved" };
      if (code !== "unknown" && !membership.isTrusted) return { is: "moved" };
      throw error;
    }
  }

  /** What the node said to it; `null`: it did nothing, or nothing that a repetition changes. */
  async #there(
    url: string,
    call: Pick<PeerCall, "operation" | "body">,
    caller: Caller,
  ): Promise<JsonText | null> {
    const peer = this.#peer(url);
    if (peer === null) return null;
    const requestKey = caller.key.requestKey ?? null;
    const answer = await peer.call({ ...call, requestKey }, caller.signal);
    this.#forwarded += 1;
    switch (answer.is) {
      case "done":
        caller.isReplayed = answer.isReplayed;
        return new JsonText(answer.text);
      case "refused":
        throw QueueError.from(answer.failure);
      case "lost":
        // What a lease was granted and nobody told lapses.
        if (requestKey === null && !looks.has(call.operation) && call.operation !== "lease") {
          throw QueueError.from(unknownOutcome);
        }
        return null;
      case "failed":
        throw new Error("the node that has the shards failed");
      case "moved":
        void this.#membership.look();
        return null;
      case "unsent":
        return null;
    }
  }

  #peer(url: string): Peer | null {
    const open = this.#peers.get(url);
    if (open !== undefined && !open.isOver) return open;
    const node = this.#membership.seen.nodes.find((one) => one.url === url);
    if (node === undefined) return null;
    const peer = new Peer(node);
    this.#peers.set(url, peer);
    return peer;
  }

  /** Does what another node forwards. An owner never forwards: one hop is the limit. */
  async serve({ operation, body }: PeerCall, caller: Caller): Promise<PeerAnswer> {
    const route = this.#local[operation] as Route<OperationId> | undefined;
    if (route === undefined || !this.#membership.isOwner) return { is: "moved" };
    try {
      const outcome = await this.#here(operation, () => route(body as never, caller), caller);
      if (outcome.is === "moved") return outcome;
      const { reply } = outcome;
      const text = reply instanceof JsonText ? reply.text : JSON.stringify(reply);
      return { is: "done", text, isReplayed: caller.isReplayed };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code, reason, message, details } = error;
      const failed = { ok: false, code, reason, message, ...(details && { details }) } as const;
      return { is: "refused", failure: failed };
    }
  }

  /** Forwards nothing any more. */
  close(): void {
    this.#isClosed = true;
    for (const peer of this.#peers.values()) peer.close();
  }
}

function overdue(operation: OperationId): QueueError {
  return QueueError.from(operation === "lease" ? emptyLease : notOwner);
}

function timeoutMs(body: { readonly request_timeout?: string | null }): number {
  const { request_timeout: text } = body;
  const parsed = typeof text === "string" ? parseDuration(text) : null;
  return parsed?.ok === true ? parsed.ms : timeoutMsDefault;
}

/** The same call with what is left of its caller's time. */
function withTimeLeft(body: { readonly request_timeout?: string | null }, deadline: number): never {
  const ms = Math.max(timeoutMsMin, Math.round(deadline - performance.now()));
  const left = typeof body.request_timeout === "string" ? { request_timeout: `${ms}ms` } : {};
  return { ...body, ...left } as never;
}
