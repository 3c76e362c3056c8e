// Clients that repeat calls with idempotency keys (I16): calls whose answer was lost, calls in
// progress, and some answered ones. The auditor gets one ending per call; the answers of
// repetitions are compared here.

import type { LeasedItem, Outcome, Repeatable } from "../model/api.ts";
import { Violation } from "./auditor.ts";
import type { Ending } from "./bundle.ts";
import type { Chance } from "./chance.ts";
import type { Situations } from "./situations.ts";

type Answered<T> = (ending: Ending<T> | null) => void;
/** `wasLost`: an earlier answer was lost, so the call may have been done some time ago. */
type Ended<T> = (ending: Ending<T> | null, wasLost: boolean) => void;

export interface RepeatsOptions {
  readonly chance: Chance;
  readonly situations: Situations;
  readonly now: () => number;
  /** No engine has an earlier time. */
  readonly earliest: () => number;
  readonly log: (event: string) => void;
  readonly receiptsWindowMs: number;
  /** With several nodes, the answer to a repetition may overtake the first one. */
  readonly hasNodes: boolean;
  /** Clients that disconnect may return and repeat their call. */
  readonly reconnects: boolean;
  /** Leases are extended, so a repeated answer may have later deadlines. */
  readonly hasExtends: boolean;
  /** Starts a call; `answered` gets `null` if its answer is lost. */
  readonly send: <T>(
    what: string,
    call: () => Promise<T>,
    answered: Answered<T>,
    timeoutMs: number,
  ) => void;
}

export interface RepeatedCall<T extends Outcome> {
  readonly what: string;
  readonly queue: string;
  /** The call is decided within this time, and answered too unless `isAnsweredLater`. */
  readonly timeoutMs: number;
  readonly isAnsweredLater?: true;
  readonly send: (key: Repeatable) => Promise<T>;
  /** Sends a different request with the same key; absent = never. */
  readonly sendOther?: (key: Repeatable) => Promise<T>;
  /**
   * Called for an answer that does not decide the call, which is repeated then; `null` = the answer
   * is lost, or the outcome is unknown.
   */
  readonly doubted?: (answer: Ending<Outcome> | null) => void;
  readonly ended: Ended<T>;
}

interface Repeated extends RepeatedCall<Outcome> {
  readonly requestKey: string;
  /** Until then an earlier call with the key is remembered; 0 = there was none. */
  readonly freeAt: number;
  /** Until then a repetition is answered from its receipt, even if it is decided late. */
  until: number;
  sent: number;
  open: number;
  /** Attempts that a shard may still have, even if they were answered at their deadlines. */
  undecided: number;
  /** An answer was lost, so a refusal does not prove that nothing was done. */
  wasLost: boolean;
  /** The ending that the client knows. */
  ending: Ending<Outcome> | "given up" | null;
}

/** A key that is no longer in use. */
interface FormerKey extends Pick<Repeated, "requestKey" | "what" | "queue"> {
  /** After this the key is forgotten. */
  readonly freeAt: number;
}

const sentMax = 4;
const keptMax = 40;

export class Repeats {
  readonly #options: RepeatsOptions;
  #calls: Repeated[] = [];
  #former: FormerKey[] = [];
  #keys = 0;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  begin<T extends Outcome>(call: RepeatedCall<T>): void {
    const repeated: Repeated = {
      ...(call as unknown as RepeatedCall<Outcome>),
      ...this.#keyFor(call),
      until: this.#options.earliest() + this.#options.receiptsWindowMs,
      sent: 0,
      open: 0,
      undecided: 0,
      wasLost: false,
      ending: null,
    };
    this.#calls.push(repeated);
    if (this.#calls.length > keptMax) this.#giveUp(this.#calls.shift() as Repeated);
    this.#send(repeated);
  }

  /** A former key whose window is over, or a new one. */
  #keyFor(call: Pick<Repeated, "what" | "queue">): Pick<Repeated, "requestKey" | "freeAt"> {
    const now = this.#options.now();
    const free = this.#former.find(({ what, queue, freeAt }) => {
      return what === call.what && queue === call.queue && freeAt <= now;
    });
    this.#keys += 1;
    if (free === undefined) return { requestKey: `key-${this.#keys}`, freeAt: 0 };
    this.#former = this.#former.filter((key) => key !== free);
    this.#options.situations.reached("a key is used again after its window");
    return free;
  }

  /** The clock may have been set back, and requests in shards are lost with the process. */
  restarted(): void {
    const { now, receiptsWindowMs } = this.#options;
    for (const call of this.#calls) {
      call.until = Math.min(call.until, now() + receiptsWindowMs);
      call.undecided = 0;
    }
    // If the clock was set back, earlier calls with these keys may be remembered again.
    this.#giveUpThose(({ freeAt }) => freeAt > now());
  }

  /** Repeats a call. `sentBy`: the call with this `send`; absent = any. */
  repeat(sentBy?: Repeated["send"]): void {
    const { chance, now, situations } = this.#options;
    const able = this.#calls.filter(
      ({ ending, sent, until, timeoutMs, send }) =>
        (ending === null || isDone(ending)) &&
        sent < sentMax &&
        now() + timeoutMs < until &&
        (sentBy === undefined || sentBy === send),
    );
    const call = chance.maybe(able);
    if (call === undefined) return;
    if (call.sendOther !== undefined && isDone(call.ending) && chance.hits(200)) {
      this.#sendOther(call, call.sendOther);
      return;
    }
    if (call.open > 0) situations.reached("a call is repeated while it is in progress");
    else if (call.wasLost) situations.reached("a call whose answer was lost is repeated");
    this.#send(call);
  }

  #send(call: Repeated): void {
    const { what, requestKey } = call;
    call.sent += 1;
    call.open += 1;
    call.undecided += 1;
    if (call.sent > 1) this.#options.log(`${what} with ${requestKey} is repeated`);
    const answered = (ending: Ending<Outcome> | null) => {
      call.open -= 1;
      if (isFinished(ending)) call.undecided -= 1;
      this.#answered(call, ending);
    };
    this.#options.send(what, () => call.send({ requestKey }), answered, answeredWithinMs(call));
  }

  /** A client that returned on another connection does not receive the answer to the first. */
  #isUnanswered(ending: Ending<Outcome> | null): boolean {
    if (ending === null || ending.ok || !this.#options.reconnects) return false;
    return ending.message.startsWith("the client has left");
  }

  #sendOther(call: Repeated, sendOther: NonNullable<Repeated["sendOther"]>): void {
    const { what, requestKey } = call;
    call.sent += 1;
    call.undecided += 1;
    this.#options.log(`${requestKey} is used for another call`);
    const answered = (ending: Ending<Outcome> | null) => {
      if (isFinished(ending)) call.undecided -= 1;
      if (ending?.ok === true) {
        throw new Violation(
          "I16",
          `a ${what} was done with ${requestKey}, the key of another call`,
        );
      }
      if (ending?.message.includes("is taken") === true) {
        this.#options.situations.reached("a key that was used for another call is refused");
      }
    };
    this.#options.send(what, () => sendOther({ requestKey }), answered, answeredWithinMs(call));
  }

  #answered(call: Repeated, answer: Ending<Outcome> | null): void {
    if (call.ending === "given up") return;
    const ending = this.#isUnanswered(answer) ? null : answer;
    if (ending?.ok === false && ending.message.includes("key is taken")) {
      const { what, requestKey } = call;
      throw new Violation(
        "I16",
        `a ${what} was refused because ${requestKey} was the key of another call`,
      );
    }
    if (call.ending !== null) {
      this.#compare(call, call.ending, ending);
      return;
    }
    const isFinal =
      ending?.ok === true || (!call.wasLost && call.open === 0) || isDecided(call, ending);
    if (ending?.ok === false && ending.message.includes("asked for again")) {
      this.#options.situations.reached("the repetition of a lease takes its place");
    }
    if (ending === null || !isFinal) {
      call.wasLost = true;
      call.doubted?.(answer);
      return;
    }
    const isReplayed = ending.ok && ending.value.replayed;
    if (call.sent > 1 && isReplayed) {
      this.#options.situations.reached("a repetition gets the answer that was lost");
    }
    call.ending = ending;
    // A replayed answer also means that the first one was lost, with the shard.
    call.ended(ending, call.wasLost || isReplayed);
  }

  /** After an answer of 200, all later answers must agree with it. */
  #compare(
    { what, requestKey }: Repeated,
    first: Ending<Outcome>,
    ending: Ending<Outcome> | null,
  ): void {
    if (!isDone(first) || ending === null) return;
    if (!ending.ok) {
      const isMeant = ending.code !== "refused" && ending.code !== "invalid";
      if (isMeant || isElsewhere(ending.message)) return;
      throw new Violation(
        "I16",
        `a ${what} that was done was refused when repeated, ${ending.message}`,
      );
    }
    const isOvertaken = this.#options.hasNodes && first.value.replayed;
    if (!ending.value.replayed && !isOvertaken) {
      throw new Violation("I16", `a ${what} with ${requestKey} was done twice`);
    }
    const isSame = what === "lease" ? isSameLease : isSameReply;
    if (!isSame(first.value, ending.value, this.#options)) {
      const answers = `${JSON.stringify(first.value)} and then ${JSON.stringify(ending.value)}`;
      throw new Violation("I16", `a ${what} with ${requestKey} was answered ${answers}`);
    }
    this.#options.situations.reached("an answered call is repeated and gets the same answer");
  }

  /** Ends all repetitions. `queue`: only of calls to that queue. */
  giveUp(queue?: string): void {
    this.#giveUpThose((call) => queue === undefined || call.queue === queue);
  }

  #giveUpThose(isMeant: (call: Repeated) => boolean): void {
    const left = this.#calls.filter(isMeant);
    this.#calls = this.#calls.filter((call) => !isMeant(call));
    for (const call of left) this.#giveUp(call);
  }

  #giveUp(call: Repeated): void {
    call.until = 0;
    const { now, receiptsWindowMs, hasNodes } = this.#options;
    // A stalled shard may do the call later, and so may a node that is stopped or cut off.
    if (call.undecided === 0 && isSettled(call.ending) && !hasNodes) {
      const { requestKey, what, queue } = call;
      this.#former.push({ requestKey, what, queue, freeAt: now() + receiptsWindowMs });
    }
    // An open call ends by itself.
    if (call.ending !== null || call.open > 0) return;
    call.ending = "given up";
    call.ended(null, call.wasLost);
  }

  /** Whether a repetition is in progress. */
  isSending(queue: string): boolean {
    return this.#calls.some((call) => call.queue === queue && call.open > 0 && call.sent > 1);
  }
}

export function answeredWithinMs<T extends Outcome>({
  isAnsweredLater,
  timeoutMs,
}: RepeatedCall<T>): number {
  return isAnsweredLater ? Number.POSITIVE_INFINITY : timeoutMs;
}

function isDone(ending: Repeated["ending"]): ending is Ending<Outcome> & { readonly ok: true } {
  return ending !== null && ending !== "given up" && ending.ok;
}

/** Done or refused, so the call can have no later effect. */
function isSettled(ending: Repeated["ending"]): boolean {
  if (ending === null || ending === "given up") return false;
  return ending.ok || ending.code === "refused" || ending.code === "invalid";
}

/** Whether the shard has finished the call: it is settled, or replaced by a repetition. */
function isFinished(ending: Ending<Outcome> | null): boolean {
  return isSettled(ending) || (ending?.ok === false && ending.message.includes("asked for again"));
}

/** The queue or partition was replaced, or another lease of the client waits. */
function isElsewhere(message: string): boolean {
  return /does not exist|deleted|not a valid partition|duplicate client/.test(message);
}

/** Whether a refusal after a lost answer proves that nothing was done. */
function isDecided({ what, open }: Repeated, ending: Ending<Outcome> | null): boolean {
  if (ending === null || ending.ok || open > 0 || what === "produce") return false;
  // A lost grant is withdrawn or lapses.
  if (what === "lease") return true;
  return ending.code === "refused" && !isElsewhere(ending.message);
}

interface LeaseReply extends Outcome {
  readonly now?: number;
  readonly items?: readonly Pick<LeasedItem, "id" | "attempts" | "leaseDeadline">[];
}

/** `now` is the time at each answer. */
function isSameReply(first: LeaseReply, second: LeaseReply): boolean {
  const { replayed, now = null } = first;
  return JSON.stringify({ ...first, now }) === JSON.stringify({ ...second, replayed, now });
}

/** The items that are still leased: unchanged, except for a later deadline after an extend. */
function isSameLease(
  first: LeaseReply,
  second: LeaseReply,
  { hasExtends }: Pick<RepeatsOptions, "hasExtends">,
): boolean {
  const firstItems = new Map(first.items?.map((item) => [item.id, item]));
  const { items = [] } = second;
  return (
    items.length > 0 &&
    items.every(({ id, attempts, leaseDeadline }) => {
      const before = firstItems.get(id);
      if (before === undefined || before.attempts !== attempts) return false;
      const isLater = hasExtends && leaseDeadline > before.leaseDeadline;
      return isLater || leaseDeadline === before.leaseDeadline;
    })
  );
}
