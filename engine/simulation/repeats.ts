// Calls with a key, as their clients make them: one whose answer was lost is sent again, now and
// then while the one before is still under way, and some of those that were answered, too. The
// auditor hears of a call once, however often it was sent; what is said again is compared here.

import type { LeasedItem, Outcome, Repeatable } from "../model/api.ts";
import { Violation } from "./auditor.ts";
import type { Ending } from "./bundle.ts";
import type { Chance } from "./chance.ts";
import type { Situations } from "./situations.ts";

type Heard<T> = (ending: Ending<T> | null) => void;
/** `wasLost`: an answer was lost before, so that it may have happened some time ago. */
type Ended<T> = (ending: Ending<T> | null, wasLost: boolean) => void;

export interface RepeatsOptions {
  readonly chance: Chance;
  readonly situations: Situations;
  readonly now: () => number;
  /** No engine has an earlier time. */
  readonly earliest: () => number;
  readonly say: (event: string) => void;
  readonly receiptsWindowMs: number;
  /** Answers by other nodes may be overtaken by those to repetitions. */
  readonly hasNodes: boolean;
  /** Clients that leave may ask again. */
  readonly returns: boolean;
  /** Leases are extended, so that what is told of one again may have later deadlines. */
  readonly hasExtends: boolean;
  /** Starts a call; `heard` is told `null` where its answer is lost. */
  readonly send: <T>(
    what: string,
    call: () => Promise<T>,
    heard: Heard<T>,
    timeoutMs: number,
  ) => void;
}

export interface RepeatedCall<T extends Outcome> {
  readonly what: string;
  readonly queue: string;
  /** It is decided within so long, and answered unless `isAnsweredLater`. */
  readonly timeoutMs: number;
  readonly isAnsweredLater?: true;
  readonly send: (key: Repeatable) => Promise<T>;
  /** Asks for something else with the same key; absent = nobody tries. */
  readonly sendOther?: (key: Repeatable) => Promise<T>;
  /**
   * The answer does not decide the call, which is sent again; `null`: it is lost, or the outcome is
   * unknown.
   */
  readonly doubted?: (answer: Ending<Outcome> | null) => void;
  readonly ended: Ended<T>;
}

interface Repeated extends RepeatedCall<Outcome> {
  readonly requestKey: string;
  /** Until then another call with its key is remembered; 0 = there was none. */
  readonly freeAt: number;
  /** Until then a repetition is answered from its receipt, however late it is decided. */
  until: number;
  sent: number;
  open: number;
  /** Sendings that a shard may have yet, whatever was answered at their deadlines. */
  undecided: number;
  /** An answer was lost, so that a refusal does not say that nothing was done. */
  wasLost: boolean;
  /** How the call ended as far as its client knows. */
  ending: Ending<Outcome> | "given up" | null;
}

/** A key that nobody uses any more. */
interface FormerKey extends Pick<Repeated, "requestKey" | "what" | "queue"> {
  /** From then on it is not known. */
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

  /** One that is used again where there is one whose window is over. */
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

  /** The clock may have been set back, and what a shard had went with the process. */
  restarted(): void {
    const { now, receiptsWindowMs } = this.#options;
    for (const call of this.#calls) {
      call.until = Math.min(call.until, now() + receiptsWindowMs);
      call.undecided = 0;
    }
    // What was done with their keys before may be remembered again.
    this.#giveUpThose(({ freeAt }) => freeAt > now());
  }

  /** Sends one of them once more. `sentBy`: the one whose `send` that is; absent = any. */
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
    if (call.open > 0) situations.reached("a call is sent again while it is under way");
    else if (call.wasLost) situations.reached("a call whose answer was lost is sent again");
    this.#send(call);
  }

  #send(call: Repeated): void {
    const { what, requestKey } = call;
    call.sent += 1;
    call.open += 1;
    call.undecided += 1;
    if (call.sent > 1) this.#options.say(`${what} with ${requestKey} is sent again`);
    const heard = (ending: Ending<Outcome> | null) => {
      call.open -= 1;
      if (isTaken(ending)) call.undecided -= 1;
      this.#heard(call, ending);
    };
    this.#options.send(what, () => call.send({ requestKey }), heard, answeredWithinMs(call));
  }

  /** Who is back on another connection is never told of having left. */
  #isUnheard(ending: Ending<Outcome> | null): boolean {
    if (ending === null || ending.ok || !this.#options.returns) return false;
    return ending.message.startsWith("the client has left");
  }

  #sendOther(call: Repeated, sendOther: NonNullable<Repeated["sendOther"]>): void {
    const { what, requestKey } = call;
    call.sent += 1;
    call.undecided += 1;
    this.#options.say(`${requestKey} is used for something else`);
    const heard = (ending: Ending<Outcome> | null) => {
      if (isTaken(ending)) call.undecided -= 1;
      if (ending?.ok === true) {
        throw new Violation("I16", `a ${what} was done with the key ${requestKey} of another`);
      }
      if (ending?.message.includes("is taken") === true) {
        this.#options.situations.reached("a key is refused that was used for something else");
      }
    };
    this.#options.send(what, () => sendOther({ requestKey }), heard, answeredWithinMs(call));
  }

  #heard(call: Repeated, answer: Ending<Outcome> | null): void {
    if (call.ending === "given up") return;
    const ending = this.#isUnheard(answer) ? null : answer;
    if (ending?.ok === false && ending.message.includes("key is taken")) {
      const { what, requestKey } = call;
      throw new Violation("I16", `a ${what} was refused for another, whose key ${requestKey} was`);
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
      this.#options.situations.reached("what a call did that nobody heard of is told later");
    }
    call.ending = ending;
    // Also where no answer was lost but the shard that was to give it.
    call.ended(ending, call.wasLost || isReplayed);
  }

  /** Once a call was answered with 200, whatever is said again agrees with that. */
  #compare(
    { what, requestKey }: Repeated,
    first: Ending<Outcome>,
    ending: Ending<Outcome> | null,
  ): void {
    if (!isDone(first) || ending === null) return;
    if (!ending.ok) {
      const isMeant = ending.code !== "refused" && ending.code !== "invalid";
      if (isMeant || isElsewhere(ending.message)) return;
      throw new Violation("I16", `a ${what} was refused that was done, ${ending.message}`);
    }
    const isOvertaken = this.#options.hasNodes && first.value.replayed;
    if (!ending.value.replayed && !isOvertaken) {
      throw new Violation("I16", `a ${what} with ${requestKey} was done twice`);
    }
    const isSame = what === "lease" ? isSameLease : isSameReply;
    if (!isSame(first.value, ending.value, this.#options)) {
      const told = `${JSON.stringify(first.value)} and then ${JSON.stringify(ending.value)}`;
      throw new Violation("I16", `a ${what} with ${requestKey} was answered ${told}`);
    }
    this.#options.situations.reached("a call that was answered is answered the same again");
  }

  /** Nobody will ask again. `queue`: only for calls to that one. */
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
    // A shard that stands still may do it later, and so may a node that is stopped or cut off.
    if (call.undecided === 0 && isSettled(call.ending) && !hasNodes) {
      const { requestKey, what, queue } = call;
      this.#former.push({ requestKey, what, queue, freeAt: now() + receiptsWindowMs });
    }
    // One that is open ends by itself.
    if (call.ending !== null || call.open > 0) return;
    call.ending = "given up";
    call.ended(null, call.wasLost);
  }

  /** Whether one is on its way for another time. */
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

/** Done, or refused: nothing of it can come later. */
function isSettled(ending: Repeated["ending"]): boolean {
  if (ending === null || ending === "given up") return false;
  return ending.ok || ending.code === "refused" || ending.code === "invalid";
}

/** Or its repetition stands in its place. */
function isTaken(ending: Ending<Outcome> | null): boolean {
  return isSettled(ending) || (ending?.ok === false && ending.message.includes("asked for again"));
}

/** The queue or the partition is not the one that was meant, or another lease of the client waits. */
function isElsewhere(message: string): boolean {
  return /does not exist|deleted|not a valid partition|duplicate client/.test(message);
}

/** Of an answer that was lost before: a shard that refuses says that nothing had been done. */
function isDecided({ what, open }: Repeated, ending: Ending<Outcome> | null): boolean {
  if (ending === null || ending.ok || open > 0 || what === "produce") return false;
  // What a lease was granted that nobody was told of goes back, or lapses.
  if (what === "lease") return true;
  return ending.code === "refused" && !isElsewhere(ending.message);
}

interface Told extends Outcome {
  readonly now?: number;
  readonly items?: readonly Pick<LeasedItem, "id" | "attempts" | "leaseDeadline">[];
}

/** `now` is the time at each answer. */
function isSameReply(first: Told, second: Told): boolean {
  const { replayed, now = null } = first;
  return JSON.stringify({ ...first, now }) === JSON.stringify({ ...second, replayed, now });
}

/** What is still held: each item as it was told, but for a later deadline if it was extended. */
function isSameLease(
  first: Told,
  second: Told,
  { hasExtends }: Pick<RepeatsOptions, "hasExtends">,
): boolean {
  const told = new Map(first.items?.map((item) => [item.id, item]));
  const { items = [] } = second;
  return (
    items.length > 0 &&
    items.every(({ id, attempts, leaseDeadline }) => {
      const before = told.get(id);
      if (before === undefined || before.attempts !== attempts) return false;
      const isLater = hasExtends && leaseDeadline > before.leaseDeadline;
      return isLater || leaseDeadline === before.leaseDeadline;
    })
  );
}
