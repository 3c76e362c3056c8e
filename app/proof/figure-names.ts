// Labels of each method's figures, in display order. A figure without a label is not shown.

export interface Named {
  readonly label: string;
  /** Keys in the report; the figure is their sum. */
  readonly keys: readonly string[];
  /** The total: the sum of these keys. */
  readonly of?: readonly string[];
  /** The report counts events: a missing key means 0. */
  readonly isTally?: true;
}

const one = (key: string, label: string): Named => ({ label, keys: [key] });
const part = (key: string, whole: string, label: string): Named => ({
  ...one(key, label),
  of: [whole],
});
const tally = (label: string, ...keys: string[]): Named => ({ label, keys, isTally: true });

const simulated: readonly Named[] = [
  one("worlds", "worlds, one for each seed"),
  one("steps", "steps"),
  one("simulatedYears", "years by the simulated clock"),
  one("calls", "calls of clients"),
  one("storeFaults", "failures of the store"),
  one("kills", "crashes of the whole process"),
  one("commits", "commits"),
  part("situationsReached", "situationsNamed", "named situations that occurred"),
];

const flips = (effect: string): string[] => [`flip in log: ${effect}`, `flip in file: ${effect}`];
const cuts = (effect: string): string => `truncate log: ${effect}`;

export const figureNames: Readonly<Record<string, readonly Named[]>> = {
  simulation: simulated,
  "simulation over SQLite": [...simulated, one("images", "crash images that were opened")],
  "simulation of nodes": [
    one("worlds", "worlds, one for each seed"),
    one("steps", "steps"),
    one("calls", "calls of clients"),
    one("commits", "commits"),
    part("situationsReached", "situationsNamed", "named situations that occurred"),
  ],
  "planted bugs": [
    part("found", "planted", "planted bugs that were found"),
    one("foundByTheFirstSeed", "found by the first world"),
    one("seedsAtMost", "worlds until the last of them was found"),
  ],
  kills: [
    one("kills", "kills"),
    one("killsUnderLoad", "under load"),
    one("killsAtStart", "while it started"),
    one("killsAtStop", "while it stopped"),
    one("acknowledged", "items acknowledged with 200"),
    one("lost", "of them lost"),
    tally("transacts answered with 200", "transacts"),
    tally("transacts whose answer was lost", "unknownTransacts"),
    tally("outputs that went to another shard", "delayedOutputs"),
    one("unknownCalls", "calls whose answer was lost"),
    one("recovered", "items stored though their answer was lost"),
    one("operationsInOrder", "operations checked for order"),
  ],
  "power cuts": [
    one("cuts", "power cuts"),
    one("cutsWithUnsynced", "with writes that were not synced yet"),
    one("traces", "recorded runs that were cut"),
    one("lossyCuts", "cuts after which something acknowledged was missing"),
    part("controlLossyCuts", "controlCuts", "of the control, which does not sync"),
  ],
  "system calls": [
    one("runs", "runs"),
    part("reached", "runs", "runs in which the call failed"),
    tally("a sync with an I/O error", "a sync fails"),
    tally("no space from the Nth write on", "no space"),
    tally("a write with an I/O error", "a write fails"),
    tally("killed at the Nth sync or write", "killed at a sync", "killed at a write"),
    one("acknowledged", "items acknowledged with 200"),
    tally("of them lost", "lost"),
  ],
  "full disks": [
    one("disks", "small disks"),
    one("fills", "times another program filled one"),
    one("restarts", "kills and stops of the server on a full disk"),
    one("acknowledged", "items acknowledged with 200"),
    tally("of them lost", "lost"),
    one("completedWhileFull", "items completed on a full disk"),
    one("refusedCalls", "calls refused for lack of room"),
  ],
  media: [
    one("truncations", "truncations of the log"),
    tally("of the truncated refused at the start", cuts("refused")),
    tally("unharmed, because only old frames were cut", cuts("unharmed")),
    one("flips", "bits flipped in file and log"),
    tally("of the flipped refused at the start", ...flips("refused")),
    tally("items set aside, the rest whole", ...flips("set aside")),
    tally("unharmed, because nothing reads that bit", ...flips("unharmed")),
    tally("trials without the last commit alone", cuts("cut"), ...flips("cut")),
    tally("trials with a silent loss", cuts("silent"), ...flips("silent")),
  ],
  histories: [
    one("operations", "operations on single items"),
    one("httpCalls", "HTTP calls that made them"),
    tally("transacts answered with 200", "transacts"),
    tally("transacts whose answer was lost", "unknownTransacts"),
    tally("outputs that went to another shard", "delayedOutputs"),
    one("clients", "clients"),
    one("partitions", "partitions"),
    one("restarts", "kills in the middle"),
    one("unknownCalls", "calls whose outcome stayed unknown"),
    one("lost", "acknowledged items lost"),
    one("blackBoxHistories", "short histories checked for linearizability"),
    one("gaveUp", "of them undecided"),
    part(
      "spoiltRejected",
      "spoiltHistories",
      "deliberately corrupted histories that were rejected",
    ),
  ],
  "hostile input": [
    one("bodies", "request bodies made from the schemas"),
    tally("of them with a defect", "broken"),
    one("rawRows", "handwritten raw requests"),
    one("rawRequests", "damaged raw requests"),
    one("crowd", "connections opened and dropped"),
    one("halfClosed", "half-closed connections"),
    one("slowClients", "kinds of slow clients"),
    one("rawCanaryMsMax", "longest ordinary round meanwhile, in ms"),
  ],
  soak: [
    one("loadSeconds", "seconds of steady load"),
    one("itemsCompleted", "items completed"),
    one("lost", "acknowledged items lost"),
    one("waitingLeases", "leases that waited meanwhile"),
    one("waitingSeconds", "seconds that they waited"),
    one("wakeMsP99", "ms until a waiting lease had its item, p99"),
    one("descriptorsLeft", "additional file descriptors afterwards"),
  ],
  nodes: [
    tally("nodes killed", "kills"),
    tally("stopped and restarted", "drains"),
    tally("suspended and resumed", "stops"),
    tally("cut off from the database", "databaseCuts"),
    tally("cut off from each other", "nodeCuts"),
    tally("whose connections broke", "breaks"),
    one("owners", "owners that the shards had"),
    one("acknowledged", "items acknowledged"),
    one("lost", "acknowledged items lost"),
    one("unknownCalls", "calls whose outcome stayed unknown"),
  ],
};
