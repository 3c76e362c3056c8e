// Bugs that somebody might write, each as one change of one source file. The
// simulation must find every one of them: what it cannot see, it does not check.
// They exist only for a process that was started to look for one (`preload.ts`).

export interface PlantedBug {
  readonly name: string;
  /** Below `engine/`. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "answers are given before the commit",
    file: "shard/shard.ts",
    from: "let commit = await this.#commit(turn, requests);",
    to: "this.#report(this.#told(turn), null, false); let commit = await this.#commit(turn, requests); turn.draft.answers.length = 0;",
  },
  {
    name: "answers are given before the sync",
    file: "shard/shard.ts",
    from: "const answering = synced.then(async () => {",
    to: "this.#report(told, commit, full); told.answers.length = 0; const answering = synced.then(async () => {",
  },
  {
    name: "a turn is committed before the one before is synced",
    file: "shard/shard.ts",
    from: "lost with it.\n    await this.#answering;",
    to: "lost with it.",
  },
  {
    name: "a turn is committed though the sync before it failed",
    file: "shard/shard.ts",
    from: "lost with it.\n    await this.#answering;",
    to: "lost with it.\n    await this.#answering?.catch(() => undefined);",
  },
  {
    name: "an extend is forgotten at a restart",
    file: "shard/moves.ts",
    from: "memory.hold(partition, lease, { items: piece, payloadBytes });\n    draft.lease(lease);",
    to: "memory.hold(partition, lease, { items: piece, payloadBytes });\n    draft.lease({ ...run.lease, first: lease.first, last: lease.last });",
  },
  {
    name: "an extend of a part of a lease extends nothing else, and loses it",
    file: "shard/moves.ts",
    from: "if (extended.has(seq) !== isLater) endPiece();",
    to: "if (!extended.has(seq)) continue;",
  },
  {
    name: "an extend makes a lease shorter",
    file: "shard/extend.ts",
    from: "if (before < wanted) extendRun(",
    to: "extendRun(",
  },
  {
    name: "a release counts the attempt",
    file: "shard/release.ts",
    from: "move(turn, partition, item, releaseFate(item, turn.now));",
    to: "move(turn, partition, { ...item, attempts: item.attempts + 1 }, releaseFate({ ...item, attempts: item.attempts + 1 }, turn.now));",
  },
  {
    name: "a lease's own timeout is not kept",
    file: "shard/lease.ts",
    from: "holding.take(item, { leaseDeadline, isApart: gaps.has(start + place) });",
    to: "holding.take(item, { leaseDeadline: turn.now + (partition.settings?.leaseTimeoutMs ?? 0), isApart: gaps.has(start + place) });",
  },
  {
    name: "leases are forgotten at a restart",
    file: "shard/memory.ts",
    from: "this.hold(this.partition(lease.slot), lease, { items: held, payloadBytes });",
    to: "",
  },
  {
    name: "an attempt counts twice when a lease lapses",
    file: "lifecycle.ts",
    from: "return returned(item, rules, now, now);",
    to: "return returned({ ...item, attempts: item.attempts + 1 }, rules, now, now);",
  },
  {
    name: "the last items of a batch are lost",
    file: "shard/produce.ts",
    from: "for (const item of items) {",
    to: "for (const item of items.slice(0, 5)) {",
  },
  {
    name: "held items are offered after a restart",
    file: "shard/lease.ts",
    from: "const held = partition.held.get(item.seq);",
    to: "const held = partition.head === item.seq ? undefined : partition.held.get(item.seq);",
  },
  {
    name: "one lease's items go to two clients",
    file: "shard/lease.ts",
    from: "start += count;",
    to: "",
  },
  {
    name: "the dead queue's shard drops what comes",
    file: "shard/receive.ts",
    from: "else append(turn, partition, { ...item, createdAt: now });",
    to: "",
  },
  {
    name: "a dead letter that comes twice is taken twice",
    file: "shard/receive.ts",
    from: "if (item.outboundSeq <= last) continue;",
    to: "",
  },
  {
    name: "what is on its way to a dead queue is forgotten at a restart",
    file: "shards.ts",
    from: "for (const [shard, { outbox }] of opened.entries()) courier.countAll(shard, outbox);",
    to: "",
  },
  {
    name: "a sequence number is used again once the partition was empty",
    file: "shard/partition.ts",
    from: "this.nextSeq = tally.nextSeq;",
    to: "this.nextSeq = tally.itemCount + tally.scheduledCount + tally.retriedCount > 0 ? tally.nextSeq : Math.max(0, tally.nextSeq - 1);",
  },
  {
    name: "a batch with a wrong id is completed in part",
    file: "shard/held.ts",
    from: "if (found.length === batch.ids.length && isEach) return found;",
    to: "if (found.length > 0) return found;",
  },
  {
    name: "a completed item stays in the store",
    file: "shard/complete.ts",
    from: "remove(turn, partition, item);",
    to: "",
  },
  {
    name: "a move leaves its payload behind",
    file: "../stores/memory/store.ts",
    from: "const texts = { kind, encoding, reference, sourceId, payload };",
    to: "const texts = { kind, encoding, reference, sourceId, payload: payload.subarray(0, 0) };",
  },
  {
    name: "the head of a partition is read a turn too early",
    file: "shard/shard.ts",
    from: "await backend.store.read(asked);",
    to: "await backend.store.read(asked).then((fresh) => { const kept = this.#options as { stale?: typeof fresh }; const { stale = fresh } = kept; kept.stale = fresh; return { ...fresh, heads: stale.heads }; });",
  },
  {
    name: "what is due is read a turn too early",
    file: "shard/shard.ts",
    from: "await backend.store.read(asked);",
    to: "await backend.store.read(asked).then((fresh) => { const kept = this.#options as { stale?: typeof fresh }; const { stale = fresh } = kept; kept.stale = fresh; return { ...fresh, waking: stale.waking, early: stale.early }; });",
  },
  {
    name: "a damaged item that was to move is moved as it is",
    file: "shard/moves.ts",
    from: "if (scene.memory.isSpoilt(slot, item.seq)) {\n    quarantine(",
    to: "if (item.seq < 0) {\n    quarantine(",
  },
  {
    name: "a retry does not wait for its instant",
    file: "lifecycle.ts",
    from: 'return dueAt > now ? { to: "schedule", attempts, dueAt } : { to: "queue", attempts };',
    to: 'return { to: "queue", attempts };',
  },
  {
    name: "a retry that gives an item up puts it back",
    file: "shard/retry.ts",
    from: "const fate = isDead ? reject() : retryFate(",
    to: "const fate = !isDead && isDead ? reject() : retryFate(",
  },
  {
    name: "an item gets one attempt too many",
    file: "lifecycle.ts",
    from: "attempts >= rules.maxAttempts",
    to: "attempts > rules.maxAttempts",
  },
  {
    name: "an item expires an hour late",
    file: "lifecycle.ts",
    from: "return item.expireDeadline <= now;",
    to: "return item.expireDeadline + 3_600_000 <= now;",
  },
  {
    name: "nobody looks for items that expire out of order",
    file: "shard/sweep.ts",
    from: "  expireEarly(turn, budget);\n",
    to: "",
  },
  {
    name: "a scheduled item wakes a second early",
    file: "shard/sweep.ts",
    from: "asking.waking = { until: now, items };",
    to: "asking.waking = { until: now + 1_000, items };",
  },
  {
    name: "nothing wakes a shard for a scheduled item",
    file: "shard/moves.ts",
    from: "memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(item));",
    to: "",
  },
  {
    name: "nothing wakes a shard for a lease that lapses",
    file: "shard/sweep.ts",
    from: "memory.runs.peek()?.lease.leaseDeadline ?? Number.POSITIVE_INFINITY,",
    to: "",
  },
  {
    name: "an item that moves stays where it was as well",
    file: "shard/moves.ts",
    from: "  remove(scene, partition, item);\n",
    to: "",
  },
  {
    name: "a client that waits alone is not woken",
    file: "leases.ts",
    from: "if (queue.line.size > 0) this.#ready.add(queue);",
    to: "if (queue.line.size > 1) this.#ready.add(queue);",
  },
  {
    name: "memory keeps what a full store refused",
    file: "shard/shard.ts",
    from: "await this.#reload(counting);\n      if (commit.is",
    to: "if (commit.is",
  },
  {
    name: "a produce that comes too late is written all the same",
    file: "shard/produce.ts",
    from: "if (deadline <= now) return lateProduce.untaken;",
    to: 'if (deadline <= now) {\n    for (const item of items) append(turn, partition, { ...item, createdAt: now, expireDeadline: now + 1e9, attempts: 0, sourceId: "" });\n    return lateProduce.untaken;\n  }',
  },
  {
    name: "a lease nobody was told of counts as an attempt",
    file: "shard/withdraw.ts",
    from: "move(turn, partition, item, release(item, turn.now));",
    to: "const fate = release(item, turn.now); move(turn, partition, item, { ...fate, attempts: held.attempts + 1 } as never);",
  },
  {
    name: "a lease whose client is gone is not given back",
    file: "leases.ts",
    from: 'if (lease.over) port(shard).put({ kind: "withdraw", slot, leaseOp: op }, () => undefined);\n      else lease.settle({ partition, items: value.items });',
    to: 'lease.settle({ partition, items: value.items });\n      queue.inFlight.lease += 0;\n      if (lease.over && lease.deadline > clock.now() + 1e12) port(shard).put({ kind: "withdraw", slot, leaseOp: op }, () => undefined);',
  },
  {
    name: "an item that is next goes to the tail instead",
    file: "shard/lease.ts",
    from: "      grant(item);\n      left -= 1;\n    }",
    to: '      if (item.seq % 7 === 3 && item.attempts === 0) move(turn, partition, item, { to: "queue", attempts: 0 });\n      else grant(item);\n      left -= 1;\n    }',
  },
  {
    name: "requests that were committed are done again after a restart",
    file: "port.ts",
    from: "(op <= opLast && !withoutEffect.has(op));",
    to: "false;",
  },
  {
    name: "requests that were not committed are answered as if they were",
    file: "port.ts",
    from: "(op <= opLast && !withoutEffect.has(op));",
    to: "(op <= opLast + 2 && !withoutEffect.has(op));",
  },
  {
    name: "a refusal is forgotten when its answer is lost",
    file: "port.ts",
    from: "withoutEffect.has(op)",
    to: "withoutEffect.has(-op)",
  },
  {
    name: "the number of the last request is not recorded",
    file: "shard/shard.ts",
    from: "opLast: this.#opLast,",
    to: "opLast: memory.lastTurn.opLast,",
  },
  {
    name: "a clear takes what is leased without being told to",
    file: "shard/clear.ts",
    from: "if (what.leased) {",
    to: "if (what.ready) {",
  },
  {
    name: "a clear forgets its mark",
    file: "shard/clear.ts",
    from: "partition.clearReadyBelow = mark;",
    to: "",
  },
  {
    name: "a deleted queue leaves its leased items behind",
    file: "registrar.ts",
    from: "ready: true, leased: true,",
    to: "ready: true, leased: false,",
  },
  {
    name: "a partition goes while items of it are leased",
    file: "registrar.ts",
    from: "const isEmpty = counts === undefined || itemsIn(counts) === 0;",
    to: "const isEmpty = (counts?.ready ?? 0) === 0;",
  },
  {
    name: "a damaged item is offered",
    file: "shard/lease.ts",
    from: "if (item.damaged) {",
    to: "if (item.damaged && item.seq < 0) {",
  },
  {
    name: "a damaged item is still counted after it was set aside",
    file: "shard/moves.ts",
    from: "partition.removedDamaged(seq);",
    to: "",
  },
  {
    name: "completes come before the leases that lapsed",
    file: "shard/turn.ts",
    from: "  sweep(turn);\n",
    to: '  if (!requests.some(({ kind }) => kind === "complete")) sweep(turn);\n',
  },
  {
    name: "a lease tells the attempts without itself",
    file: "shard/lease.ts",
    from: "attempts: item.attempts + 1,",
    to: "attempts: item.attempts,",
  },
  {
    name: "a long payload is cut",
    file: "codec.ts",
    from: "item.payload.toBase64() })));",
    to: "item.payload.subarray(0, 256).toBase64() })));",
  },
  {
    name: "an item loses its reference when it is scheduled",
    file: "shard/moves.ts",
    from: "early: false, ...when };\n  countAside(",
    to: 'early: false, ...when, reference: "" };\n  countAside(',
  },
  {
    name: "the items of a batch are written in reverse",
    file: "shard/produce.ts",
    from: "for (const item of items) {",
    to: "for (const item of [...items].reverse()) {",
  },
  {
    name: "a lease's row outlives it",
    file: "shard/moves.ts",
    from: "draft.unlease(held.run.lease);",
    to: "",
  },
  {
    name: "a lease's row ends one item early",
    file: "shard/moves.ts",
    from: "last: last.seq, leaseDeadline",
    to: "last: Math.max(first.seq, last.seq - 1), leaseDeadline",
  },
  {
    name: "a pause that a grant under way slips through",
    file: "registrar.ts",
    from: "return { told };\n    });\n    await told;\n  }\n\n  /** The name is free",
    to: "return { told };\n    });\n    void told;\n  }\n\n  /** The name is free",
  },
  {
    name: "a shard grants what was on its way when its queue was paused",
    file: "shard/lease.ts",
    from: "if (partition.settings?.pause?.lease === true) {",
    to: "if (turn.now < 0) {",
  },
  {
    name: "a shard writes what was on its way when its queue was paused",
    file: "shard/produce.ts",
    from: "if (settings.pause?.produce === true) return",
    to: "if (settings.pause && now < 0) return",
  },
  {
    name: "a pause is forgotten at a restart",
    file: "catalog.ts",
    from: "if (!entry.deleting) this.add(entry);",
    to: "const { pause: _, ...definition } = entry.definition; if (!entry.deleting) this.add({ ...entry, definition });",
  },
  {
    name: "who waited on a paused queue is not served when it is resumed",
    file: "shard/configure.ts",
    from: "draft.touched.add(partition);",
    to: "",
  },
  {
    name: "settings that a shard was told before it went down undo a pause",
    file: "port.ts",
    from: "this.#settleLost(opened).map(withoutSettings)",
    to: "this.#settleLost(opened)",
  },
  // The next five were no experiments: the simulation found them.
  {
    name: "a shard without room asks for it without a pause",
    file: "shard/shard.ts",
    from: "const next = Math.max(due, this.#pausedUntil);",
    to: "const next = due;",
  },
  {
    name: "a lease that found no room is sent again at once",
    file: "shard/lease.ts",
    from: "more && turn.full ? fullFailure : nothing(more)",
    to: "nothing(more)",
  },
  {
    name: "a damaged item that a turn meets twice is counted out twice",
    file: "shard/moves.ts",
    from: "if (draft.quarantined.has(partition.slot, seq)) return;",
    to: "",
  },
  {
    name: "a delete that the store refuses leaves its queue hidden",
    file: "registrar.ts",
    from: "queue.isHidden = false;",
    to: "",
  },
  {
    name: "the shards are not told of their partitions at a start",
    file: "shards.ts",
    from: "const told = this.#ports.map((port, shard) => port.ask(settings.all(shard)));",
    to: "const told: Promise<unknown>[] = [];",
  },
  {
    name: "a page of the outbox is forgotten before it has arrived",
    file: "courier.ts",
    from: '    const request = { kind: "receive"',
    to: '    this.#port(route.source)?.put({ kind: "forward", targetShard: route.target, arrived: last.outboundSeq }, () => undefined);\n    const request = { kind: "receive"',
  },
];
