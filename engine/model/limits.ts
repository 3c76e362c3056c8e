// Every bound and default of the engine, each with its reason. `Max` and `Min` are inclusive. A
// bound that an operator may need to change is an option of `createEngine`; its default is here.

export const limits = {
  /** The specification's bound; it keeps a turn short and a reply small. */
  produceItemsMax: 1_000,
  leaseBatchMax: 1_000,
  completeIdsMax: 1_000,
  retryItemsMax: 1_000,
  /** An import is one commit, and other calls wait for it. */
  importItemsMax: 10_000,
  /** Ids and items of one transact: as many as a turn accepts of any one kind. */
  transactEntriesMax: 1_000,
  queuesListMax: 1_000,
  /** Characters kept of the name of a client that holds items; the client may send any name. */
  holderNameMax: 256,
  /** Characters of the `since` token of an overview; longer than any issued token. */
  overviewSinceMax: 64,
  /** Clients that one call lists, waiting and holding counted separately. */
  clientsMax: 1_000,
  /** A shard that takes longer to list its holders is left out. */
  clientsMsMax: 5_000,
  /** Milliseconds between two scans of all queues, however many callers there are. */
  overviewMs: 1_000,
  /** Items per page of stored items: generous for exports, bounded for memory. */
  storageListMax: 20_000,
  /** Payload bytes after which a page ends early. */
  storageListBytesMax: 32 * 1024 * 1024,
  /** A shorter wait is indistinguishable from none; a longer one outlives proxies. */
  requestTimeoutMsMin: 10,
  requestTimeoutMsMax: 15 * 60_000,
  /** How long a lease waits for its shard past its `request_timeout`; clients wait for 5 s. */
  leaseStallMsMax: 2_000,
  /** For calls without a `request_timeout`: the longest one recommended for produce. */
  requestTimeoutMsDefault: 5 * 60_000,
  queueNameBytesMax: 512,
  deadQueueBytesMax: 500,
  queueReferenceBytesMax: 2_000,
  /** The idempotency key of a call. */
  requestKeyBytesMax: 255,
  /** The unique key of an item. */
  uniqueKeyBytesMax: 256,
  /** Headers of one item as JSON: enough for a trace context and a little more. */
  headersBytesMax: 2_048,
  /** The reason of a retry: the first line of an error and a little more. */
  retryReasonBytesMax: 1_024,
  /** Expired unique keys are removed in batches: a removal costs a commit on an idle shard. */
  uniqueBunchMs: 10_000,
  /** How long a call with a key can be repeated; longer than a client keeps retrying. */
  receiptsWindowMs: 5 * 60_000,
  /** Receipts per server, divided among its shards. */
  receiptsMax: 2_000_000,
  /** Bytes per server for the history of items, divided among its shards. 0 = off. */
  historyBytes: 0,
  /** Shards that one history is followed through, so that a cycle ends. */
  historyShardsMax: 64,
  /** Receipts that one turn examines in order to forget them. */
  receiptsForgottenMax: 50_000,
  /** Names counted per time slot to find the most frequent, and characters kept of each. */
  heavyHittersMax: 8,
  heavyHitterCharactersMax: 256,
  /** One sentence: the shard of each partition keeps a copy. */
  pauseReasonBytesMax: 500,
  /** Characters of a duration; no sensible one is longer. */
  durationTextMax: 15,
  maxAttemptsMax: 65_536,
  /** An item keeps this count forever; in protobuf it is an `int32`. */
  carriedCountMax: 2 ** 31 - 1,
  /** An `int32` on the wire. */
  leasedMaxMax: 2 ** 31 - 1,
  waitingMaxMax: 2 ** 31 - 1,
  leaseRateItemsMax: 2 ** 31 - 1,
  /** Steps per interval: a rate is exact to a thousandth, in bounded memory. */
  leaseRateGrains: 1_000,
  /** Short enough that an item is urgent within ten minutes, however low its priority is. */
  priorityAgingMsDefault: 60_000,
  /** Longer than any item should wait, short enough for exact instants. */
  durationMsMax: 366 * 24 * 3_600_000,
  /** 9999-12-31T23:59:59.999Z: the last instant that a date-time can express in either encoding. */
  instantMax: 253_402_300_799_999,
  /** Ten times the specification's example of 1,025; a partition costs a row and memory. */
  partitionsMax: 10_000,
  queuesMax: 10_000,
  /** The name of a group. */
  groupBytesMax: 256,
  /** Groups of a queue with settings of their own: a row and a record in memory for each. */
  groupsSetMax: 10_000,
  groupWeightMax: 100,
  /** Groups whose first item a turn reads only to learn its priority. */
  groupsReadMax: 256,
  groupsListMax: 1_000,
  /** The highest priority of an item. */
  priorityMax: 9,
  /**
   * Partitions per shard. Each has ten slots, one per priority, and a slot is 18 bits of an item's
   * 63-bit key.
   */
  slotsMax: Math.floor(2 ** 18 / 10),
  /** The highest slot: of the last partition, for the highest priority. */
  slotLast: 10 * Math.floor(2 ** 18 / 10) - 1,
  /** Sequence numbers per slot: 45 bits of a key, two years at 500,000 items per second. */
  seqMax: 2 ** 45 - 1,
  /** Openings with distinct ids, 30 bytes each; items of older ones change their ids. */
  epochsMax: 4_096,
  /** How much of a partition a reshard reads at a time and writes in one commit. */
  reshardPage: { items: 2_000, payloadBytes: 8 * 1024 * 1024 },
  /** Items set aside, per page; they may be large. */
  reshardPageSetAside: 16,
  /** Waiting leases per server, divided among its shards; each costs about 5 kB. */
  waitingLeasesMax: 10_000,
  /** Items that a find examines per call. */
  findScannedMax: 100_000,
  /** Summaries per page; each may carry a reason of 1 kB. */
  summariesMax: 1_000,
  /** Items that a find examines per turn. */
  findTurnScanned: 100,
  findItemsMax: 1_000,
  findPayloadHeadMax: 65_536,
  /** An offset in a payload: an `int32` in protobuf, larger than any payload. */
  payloadRangeMax: 2_147_483_647,
  /** Bytes of one text in a filter. */
  filterBytesMax: 2_048,
  /** Values of one field in a filter: as many as the console offers for selection. */
  filterValuesMax: 200,
  /** A count in a filter: an `int32` in protobuf. */
  filterCountMax: 2_147_483_647,
  expectMax: 2_147_483_647,
  /** Characters quoted from a refused text. */
  quotedMax: 40,
  /** Items per piece of a task: other calls wait about 1 ms for a piece. */
  taskPieceItems: 500,
  /** Destinations per piece of a task: one item is read for each, however large it is. */
  taskPieceSpans: 16,
  /** Pause of a task after its shard failed. */
  taskAgainMs: 1_000,
  /** Tasks that may run at once. A list of tasks has as many, ended ones included. */
  tasksMax: 100,
  /** Ended tasks are kept longer, so that a repeated call with a key finds its task. */
  tasksKeptMax: 1_000,
  taskIdsMax: 1_000,
  taskPerSecondMax: 1_000_000,
  /** Items counted to determine how many are ahead of one. */
  aheadItemsMax: 10_000,
  /** Items that one turn moves for the clock or a long call, so that others wait milliseconds. */
  sweepItemsMax: 1_000,
  /** Ids that a log line lists of discarded items; the rest are counted. */
  discardedIdsMax: 10,
  /** Requests per turn; bounds the time from the first request to its sync. */
  turnRequestsMax: 512,
  /** Items that the requests of one turn may touch; a turn always takes at least one request. */
  turnWeightMax: 4_000,
  /** Requested payload bytes that weigh as one item: with the bound above, 64 MiB per message. */
  weightBytes: 16 * 1024,
  /** Payload bytes that one turn reads for leases or moves for the clock; batches end early. */
  turnBytesMax: 8 * 1024 * 1024,
  /** Payload bytes requeued per retry, and by all retries of a turn: one commit rewrites them. */
  retryBytesMax: 64 * 1024 * 1024,
  /** The same bounds for a full store: an eighth of the reserved room fits both. */
  fullBytesMax: 256 * 1024,
  fullRetryBytesMax: 512 * 1024,
  /**
   * Least weight for deciding a turn during a sync: a turn costs about as much as this many items,
   * whatever it contains.
   */
  secondTurnWeightMin: 250,
  /** Pauses between attempts to restart a shard. */
  restartMsMin: 50,
  restartMsMax: 5_000,
  /** How long a backup waits for dead letters and for shards; changes of queues wait with it. */
  holdMsMax: 30_000,
  shardsMax: 64,
  /** For handlers at one instant of a test clock; a call that advances it takes at most 5 min. */
  handlerTimeoutMsMax: 60_000,
  /** Rounds at one instant of a test clock with nothing due but leases still being granted. */
  advanceRoundsMax: 1_000,
  /** Requests that wait for a shard that cannot accept them yet. */
  shardBacklogMax: 50_000,
} as const;

/** Bounds of a shard that an operator or a simulated world may set. */
export type TurnLimits = {
  readonly [name in
    | "sweepItemsMax"
    | "turnRequestsMax"
    | "turnWeightMax"
    | "secondTurnWeightMin"
    | "turnBytesMax"
    | "receiptsWindowMs"
    | "receiptsMax"
    | "historyBytes"]: number;
};
