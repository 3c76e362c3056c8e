// The limits of the wire contract, shared by schemas, documentation and clients. `Max` and `Min`
// are inclusive. A name that is also in the engine's limits means the same.

export const bounds = {
  produceItemsMin: 1,
  produceItemsMax: 1_000,
  leaseBatchMin: 1,
  leaseBatchMax: 1_000,
  completeIdsMin: 1,
  completeIdsMax: 1_000,
  retryItemsMin: 1,
  retryItemsMax: 1_000,
  transactEntriesMax: 1_000,
  queuesListMin: 1,
  queuesListMax: 1_000,
  /** Actions that are kept; one page can return all of them. */
  actionsMax: 1_000,
  storageListMin: 1,
  storageListMax: 20_000,
  /** A page of stored items ends early here, because payloads may be large. */
  storageListBytesMax: 32 * 1024 * 1024,
  importItemsMin: 1,
  /** An import is one commit, for which other calls wait. */
  importItemsMax: 10_000,
  expectMax: 2_147_483_647,
  clientsMin: 1,
  clientsMax: 1_000,
  clientsDefault: 100,
  deleteIdsMin: 1,
  findItemsMin: 1,
  findItemsMax: 1_000,
  findPayloadHeadMax: 65_536,
  summariesMin: 1,
  summariesMax: 1_000,
  filterValuesMax: 200,
  payloadRangeMax: 2_147_483_647,
  taskIdsMax: 1_000,
  taskPerSecondMax: 1_000_000,
  requestTimeoutMsMin: 10,
  requestTimeoutMsMax: 15 * 60_000,
  /** Sent by clients by default. The server itself applies no default. */
  produceRequestTimeoutDefault: "5m",
  leaseRequestTimeoutDefault: "1m",
  queueNameBytesMax: 512,
  deadQueueBytesMax: 500,
  queueReferenceBytesMax: 2_000,
  uniqueKeyBytesMax: 256,
  headersBytesMax: 2_048,
  retryReasonBytesMax: 1_024,
  pauseReasonBytesMax: 500,
  durationTextMax: 15,
  carriedCountMax: 2_147_483_647,
  durationMsMax: 366 * 24 * 3_600_000,
  maxAttemptsMin: 0,
  maxAttemptsMax: 65_536,
  priorityMax: 9,
  priorityAgingDefault: "60s",
  leasedMaxMin: 0,
  leasedMaxMax: 2_147_483_647,
  waitingMaxMax: 2_147_483_647,
  groupBytesMax: 256,
  groupsListMin: 1,
  groupsListMax: 1_000,
  groupWeightMin: 1,
  groupWeightMax: 100,
  partitionsMin: 1,
  partitionsMax: 10_000,
  queuesMax: 10_000,
  idLength: 27,
  produceBodyBytesMax: 5_000_000,
  importBodyBytesMax: 64_000_000,
  bodyBytesMax: 256_000,
} as const;

/** `250.0KiB` if the size is a multiple of 1024, else `5.0MB`. */
export function sizeText(bytes: number): string {
  const [base, units] =
    bytes % 1024 === 0 ? [1024, ["KiB", "MiB", "GiB"]] : [1000, ["kB", "MB", "GB"]];
  let size = bytes;
  let unit = "B";
  for (const larger of units) {
    if (size < base) break;
    size /= base;
    unit = larger;
  }
  return unit === "B" ? `${size}B` : `${size.toFixed(1)}${unit}`;
}
