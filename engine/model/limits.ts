// Every bound and default of the engine, each with its reason. `Max` and `Min`
// are inclusive. What an operator may need to change is an option of
// `createEngine` and has its default here.

export const limits = {
  /** The specification's bound; one turn stays short and one reply small. */
  produceItemsMax: 1_000,
  leaseBatchMax: 1_000,
  completeIdsMax: 1_000,
  retryItemsMax: 1_000,
  /** They are written in one commit, for which other calls wait. */
  importItemsMax: 10_000,
  /** Ids and items of one transact: no more than a turn takes of any of its parts. */
  transactEntriesMax: 1_000,
  queuesListMax: 1_000,
  /** Characters of a client's name that are kept while it holds items; it may call itself anything. */
  holderNameMax: 256,
  /** What somebody claims to have seen of the overview; longer than any that was ever said. */
  overviewSinceMax: 64,
  /** Clients of a queue that one call tells of, on either side. */
  clientsMax: 1_000,
  /** A shard that takes longer to say who holds its items is passed over. */
  clientsMsMax: 5_000,
  /** Looks at all queues are so far apart, however many ask. */
  overviewMs: 1_000,
  /** A page of stored items: generous for exports, bounded for memory. */
  storageListMax: 20_000,
  /** A page ends early here, because payloads may be large. */
  storageListBytesMax: 32 * 1024 * 1024,
  /** A wait shorter than this cannot be told from none; longer ones outlive proxies. */
  requestTimeoutMsMin: 10,
  requestTimeoutMsMax: 15 * 60_000,
  /** Past its `request_timeout` a lease waits so long for the shard that has it; clients wait for five seconds. */
  leaseStallMsMax: 2_000,
  /** Calls without a request_timeout of their own get the longest one that produce recommends. */
  requestTimeoutMsDefault: 5 * 60_000,
  queueNameBytesMax: 512,
  deadQueueBytesMax: 500,
  queueReferenceBytesMax: 2_000,
  /** A key that a caller gives a call. */
  requestKeyBytesMax: 255,
  /** A key of an item, for those that may be written once. */
  uniqueKeyBytesMax: 256,
  /** Of an item, as JSON: room for the context of a trace and some more, as small as a reference. */
  headersBytesMax: 2_048,
  /** Why an item was given back: the first line of an error and some more. */
  retryReasonBytesMax: 1_024,
  /** Unique keys whose time is over are removed in bunches: each costs a commit where nothing else happens. */
  uniqueBunchMs: 10_000,
  /** For how long a call with a key can be repeated; longer than a client goes on trying. */
  receiptsWindowMs: 5 * 60_000,
  /** Receipts of a server; each shard has its share. */
  receiptsMax: 2_000_000,
  /** Bytes for the history of items of a server; each shard has its share. Off by default. */
  historyBytes: 0,
  /** Shards that one history is followed through, so that it ends where they lead in a circle. */
  historyShardsMax: 64,
  /** Receipts that one turn looks at to forget them. */
  receiptsForgottenMax: 50_000,
  /** Names that are counted to say which comes up most, in each slot of time; and characters of each. */
  mentionsMax: 8,
  mentionCharactersMax: 256,
  /** A sentence: each partition's shard keeps a copy. */
  pauseReasonBytesMax: 500,
  /** The text of a duration; more can only be noise. */
  durationTextMax: 15,
  maxAttemptsMax: 65_536,
  /** A count that an item carries stays there: protobuf has an `int32` for it. */
  carriedCountMax: 2 ** 31 - 1,
  /** What an int32 of the wire holds. */
  leasedMaxMax: 2 ** 31 - 1,
  leaseRateItemsMax: 2 ** 31 - 1,
  /** Parts of an interval that are told apart: a rate is kept to a thousandth, in bounded memory. */
  leaseRateGrains: 1_000,
  /** Longer than any item should wait, short enough that instants stay exact. */
  durationMsMax: 366 * 24 * 3_600_000,
  /** 9999-12-31T23:59:59.999Z: the last instant that a date-time can name, in either encoding. */
  instantMax: 253_402_300_799_999,
  /** Ten times the specification's example of 1,025; a partition costs a row and some memory. */
  partitionsMax: 10_000,
  queuesMax: 10_000,
  /** Slots of one shard: 18 bits of an item's 63-bit key. */
  slotsMax: 2 ** 18,
  /** Sequence numbers of one slot: 45 bits of an item's key; at 500,000 items a second enough for two years. */
  seqMax: 2 ** 45 - 1,
  /** Openings of a store whose ids are told apart, 30 bytes each; items of older ones change their ids. */
  epochsMax: 4_096,
  /** What a reshard reads at a time of a partition, and writes in one commit. */
  reshardPage: { items: 2_000, payloadBytes: 8 * 1024 * 1024 },
  /** Items that were set aside, which may be large. */
  reshardPageSetAside: 16,
  /** Waiting leases of a server, of which each shard has its share; each costs about 5 kB with its connection. */
  waitingLeasesMax: 10_000,
  /** Items that one call looks at for those that a filter means, and how many in one turn. */
  findLooksMax: 100_000,
  /** Groups after which a page of them ends: each may have a reason of a kilobyte. */
  groupsMax: 1_000,
  findTurnLooks: 100,
  findItemsMax: 1_000,
  findPayloadHeadMax: 65_536,
  /** Of a place in a payload: what a protobuf `int32` holds, more than any payload has. */
  payloadRangeMax: 2_147_483_647,
  /** Of one text of a filter. */
  filterBytesMax: 2_048,
  /** Groups that a filter names: as many as a page can offer to choose from. */
  filterGroupsMax: 200,
  /** Of a count in a filter: what a protobuf `int32` holds. */
  filterCountMax: 2_147_483_647,
  expectMax: 2_147_483_647,
  /** Characters of a refused text that are quoted back. */
  quotedMax: 40,
  /** Items of one piece of a task, so that others wait a millisecond; and the pause when a shard fails. */
  taskPieceItems: 500,
  /** Places that one piece of a task goes to: an item is read of each, however large. */
  taskPieceSpans: 16,
  taskAgainMs: 1_000,
  /** Tasks that may run at a time; as many are listed, with ended ones. */
  tasksMax: 100,
  /** Ended ones are known for longer, so that a call with a key that is sent again finds its own. */
  tasksKeptMax: 1_000,
  taskIdsMax: 1_000,
  taskPerSecondMax: 1_000_000,
  /** Items that are counted to say how many are ahead of one. */
  aheadItemsMax: 10_000,
  /** Items that one turn moves for the clock's sake or for a long call, so that others wait milliseconds. */
  sweepItemsMax: 1_000,
  /** A line of the log names so many items that were removed, and counts the others. */
  discardedIdsMax: 10,
  /** Requests of one turn; bounds the time from the first request to its sync. */
  turnRequestsMax: 512,
  /** Items that the requests of one turn may touch; a turn always takes at least one request. */
  turnWeightMax: 4_000,
  /** Bytes of payloads that are asked for and weigh as one item: with the bound above 64 MiB a message. */
  weightBytes: 16 * 1024,
  /** Payload bytes that one turn reads for leases, or moves for the clock's sake; larger batches end early. */
  turnBytesMax: 8 * 1024 * 1024,
  /** Payload bytes of items that a retry gives back, and all of one turn: they are written anew in one commit. */
  retryBytesMax: 64 * 1024 * 1024,
  /** The same two of a store that is full: an eighth of what is set aside for that has room for both. */
  fullBytesMax: 256 * 1024,
  fullRetryBytesMax: 512 * 1024,
  /** What has to wait for a turn to be decided beside a sync: it costs about as much as so many items, whatever is in it. */
  secondTurnWeightMin: 250,
  /** Pauses between attempts to start a shard again. */
  restartMsMin: 50,
  restartMsMax: 5_000,
  /** A backup waits for this long for dead letters and for shards; who changes queues waits with it. */
  holdMsMax: 30_000,
  shardsMax: 64,
  /** For handlers at one instant of a test clock; a call that advances it ends after five minutes. */
  handlerTimeoutMsMax: 60_000,
  /** Looks at one instant of a test clock at which nothing is due, while leases are granted items. */
  advanceRoundsMax: 1_000,
  /** Requests that wait for a shard that cannot take them yet. */
  shardBacklogMax: 50_000,
} as const;

/** What shards go by that an operator or a simulated world may set. */
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
