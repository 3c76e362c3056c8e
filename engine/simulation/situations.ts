// The situations that a run must have been in, by name: a check that never saw an
// expiry during a crash says nothing about one. Each is noted where it happens.

export const situationNames = [
  "a produce is answered",
  "a produce is answered by the shard that came after the one that took it",
  "a call is answered before its outcome is known",
  "a produce is too late",
  "a produce is refused, because the store is full",
  "a produce that nobody heard of was stored",
  "a produce that nobody heard of was not stored",
  "bytes and text are stored",
  "a lease is served at once",
  "a waiting lease is served",
  "a lease is served in the turn that writes its items",
  "a lease times out",
  "a lease times out while a commit is slow",
  "a client leaves while its lease waits",
  "two leases share a turn",
  "a dead letter is leased",
  "an item comes with a reason",
  "a granted lease is lost with its shard",
  "a client asks twice under one id",
  "a complete is answered",
  "a part of a lease is completed",
  "a batch with one wrong id is refused",
  "an item is completed twice",
  "a complete comes after the lease has lapsed",
  "a complete that nobody heard of held",
  "a complete that nobody heard of did not hold",
  "a complete is answered by the shard that came after the one that took it",
  "a retry puts an item at the tail",
  "a retry schedules an item",
  "a retry gives an item up",
  "an item is given up in a queue without a dead queue, and stays",
  "a retry of the last attempt",
  "a lease is extended",
  "a lease is released",
  "a lease has a timeout of its own",
  "a call is sent again while it is under way",
  "a call whose answer was lost is sent again",
  "what a call did that nobody heard of is told later",
  "a call that was answered is answered the same again",
  "a key is refused that was used for something else",
  "a key is used again after its window",
  "items are imported",
  "an item is a duplicate",
  "a unique key is free again",
  "the repetition of a lease takes its place",
  "a lease lapses",
  "the lease of a last attempt lapses",
  "a scheduled item wakes",
  "an item expires in the queue",
  "an item expires out of queue order",
  "an item is discarded, for lack of a dead queue",
  "an item is dead-lettered within a shard",
  "an item is dead-lettered to another shard",
  "an item on its way to a dead queue survives a crash",
  "an item on its way comes twice and is taken once",
  "a transact is answered",
  "a transact finishes items of several leases",
  "a transact is refused for the sake of one id",
  "a transact of items in several stores is refused",
  "a transact is refused, because the queue of an output is paused",
  "a transact that nobody heard of held",
  "a transact that nobody heard of did not hold",
  "an output is there with its transact",
  "an output goes to another shard",
  "an output on its way survives a crash",
  "a store fails before it commits",
  "a store fails after it committed",
  "a store is full",
  "a store has room again",
  "a store cannot be opened",
  "a commit is slow",
  "a sync is slow",
  "a sync fails",
  "the power is cut before a sync",
  "the process is killed before a commit",
  "the process is killed after a commit",
  "the process is killed while it starts",
  "the process is killed while a shard is slow",
  "the process is killed between two turns",
  "the clock was set back at a restart",
  "time passes while the process is down",
  "an item dies at a start, behind others on their way to the same shard",
  "days pass at once",
  "a damaged item is set aside",
  "a partition drains and goes",
  "partitions are added",
  "a queue is cleared",
  "a queue is cleared with its leases",
  "a clear goes on after a crash",
  "a queue is deleted with its items",
  "a delete is refused, because the queue holds items",
  "a call is refused, because its queue is gone",
  "a sweep takes more than one turn",
  "a queue is paused",
  "a queue is resumed",
  "as many items are leased as may be",
  "a queue is leased at its rate",
  "a shard goes down before its queue is paused",
  "a queue is paused while the process is down",
  "a lease waits for its time while its queue is paused",
  "a produce is refused, because its queue is paused",
  "a queue is explained: shard_down",
  "a queue is explained: store_full",
  "a queue is explained: nobody_asks",
  "a queue is explained: falls_behind",
  "a queue is explained: leases_lapse",
  "a queue is explained: dead_items",
  "a queue is explained: clearing",
  "a queue is explained: paused",
  "a queue is explained: at_leased_max",
  "a queue is explained: at_lease_rate",
  "a queue is explained: all_leased",
  "a queue is explained: all_scheduled",
  "a client is told to hold what it holds",
  "a history is told from beginning to end",
  "a history has lost its beginning",
  "a history leads into a dead queue",
  "a search takes several pages",
  "items are of several groups",
  "items are found by who holds them",
  "a task is done",
  "nobody heard whether a task has begun",
  "an item is offered again that was redriven",
  "a task is done with items that ids name",
  "a task ends at rest: redrive",
  "a task ends at rest: promote",
  "a task ends at rest: reject",
  "a task ends at rest: delete",
] as const;

/** Those of worlds with several nodes. */
export const nodeSituationNames = [
  "an owner is killed",
  "an owner is stopped",
  "an owner that was stopped goes on as one that forwards",
  "an owner is cut off from the database",
  "an owner hands over",
  "an owner is cut off from another node",
  "an owner ends while a call is forwarded to it",
  "an owner has its shards again",
  "an owner whose clock is an hour ahead",
  "an owner whose clock is an hour behind",
  "a lapsed owner is followed by another node",
  "a node starts under the URL of the owner before",
  "a node cannot be reached",
  "a call is forwarded",
  "a call finds nobody who has the shards",
  "a lease waits at a node that has lost the shards",
  "the database says nothing",
  "the database is restarted",
  "an owner hears too late that it has the shards",
  "a commit is on its way when its connection ends",
  "a commit comes late, and holds",
  "a commit comes late, and is refused",
  "a commit is refused, because the shard is another owner's",
  "a standby that was behind takes over",
  "an item that was acknowledged is lost",
  "a completed item is there again",
  "queues are older than was told",
  "a queue is resumed",
  "a queue is paused while its shards change hands",
  "as many items are leased as may be",
  "a queue is leased at its rate",
  "an item is a duplicate of one that a former owner wrote",
  "a unique key is free again",
  "a queue is cleared",
  "a queue is cleared with its leases",
  "a clear goes on after a takeover",
  "a transact is answered",
  "a transact that nobody heard of held",
  "a transact that nobody heard of did not hold",
  "an output goes to another shard",
  "a task is done",
  "a task goes on after a takeover",
  "nobody heard whether a task has begun",
  "an item is offered again that was redriven",
  "a history is told from beginning to end",
  "a history leads into a dead queue",
] as const;

export type Situation = (typeof situationNames)[number] | (typeof nodeSituationNames)[number];

export class Situations {
  readonly #names: readonly Situation[];
  readonly #counts = new Map<Situation, number>();

  /** Those that have to be reached. */
  constructor(names: readonly Situation[] = situationNames) {
    this.#names = names;
  }

  reached(situation: Situation): void {
    this.#counts.set(situation, (this.#counts.get(situation) ?? 0) + 1);
  }

  count(situation: Situation): number {
    return this.#counts.get(situation) ?? 0;
  }

  get missing(): Situation[] {
    return this.#names.filter((name) => this.count(name) === 0);
  }

  add(other: Readonly<Record<string, number>>): void {
    for (const name of this.#names) {
      const count = other[name] ?? 0;
      if (count > 0) this.#counts.set(name, this.count(name) + count);
    }
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#names.map((name) => [name, this.count(name)]));
  }
}
