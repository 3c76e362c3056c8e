// I21: a find returns the same items as a filter over a list of all items, with pages of any size.
// Summaries have the same counts as that list.

import type { FindRequest, FoundItem, ItemState, StoredItem } from "../model/api.ts";
import type { ItemSummary, SummaryField } from "../model/filter.ts";
import { Violation } from "./auditor.ts";
import type { WorldParts } from "./world-parts.ts";

/** Small, so that many pages begin in the middle. */
const pageItems = 3;

interface SearchCase {
  readonly filter: FindRequest["filter"];
  readonly state?: ItemState;
  readonly isMeant: (item: StoredItem) => boolean;
}

const states: readonly ItemState[] = ["ready", "leased", "scheduled"];
const summaryFields: readonly SummaryField[] = ["reason", "death", "kind", "originQueue"];

function stateOf({ isLeased, enqueueAt }: StoredItem): ItemState {
  if (enqueueAt !== null) return "scheduled";
  return isLeased ? "leased" : "ready";
}

/** The value by which an item is summarized. The reasons of a world are `why` and an id, or none. */
function valueBy({ kind, group = "", past = {} }: StoredItem, by: SummaryField): string {
  const { reason = "", death = "", queue = "" } = past;
  const values = { kind, death, group, originQueue: queue };
  return by === "reason" ? reason.replace(/^why .*/, "why <id>") : values[by];
}

/** Filters that match one item, and filters that may match none. */
function searchCasesFor(one: StoredItem | undefined): SearchCase[] {
  const { kind = "none", reference = "none", payload = new Uint8Array() } = one ?? {};
  const key = new TextDecoder().decode(payload).split("|", 1)[0] ?? "";
  const created = one?.past?.createdAt ?? one?.createdAt ?? 0;
  const origin = one?.past?.origin ?? one?.id ?? "none";
  return [
    { filter: {}, isMeant: () => true },
    ...states.map((state) => ({
      ...{ filter: { kind }, state },
      isMeant: (item: StoredItem) => item.kind === kind && stateOf(item) === state,
    })),
    { filter: { kind }, isMeant: (item) => item.kind === kind },
    { filter: { reference }, isMeant: (item) => item.reference === reference },
    { filter: { originId: origin }, isMeant: ({ id, past }) => (past?.origin ?? id) === origin },
    { filter: { originQueue: "orders" }, isMeant: ({ past }) => past?.queue === "orders" },
    {
      filter: { reason: `why ${origin}` },
      isMeant: (item) => valueBy(item, "reason") === "why <id>",
    },
    { filter: { redrivenMax: 0 }, isMeant: ({ past }) => past?.redriven === undefined },
    { filter: { death: "failed" }, isMeant: ({ past }) => past?.death === "failed" },
    {
      filter: { attemptsMin: 2 },
      isMeant: ({ past, attempts }) => (past?.attempts ?? attempts) >= 2,
    },
    {
      filter: { createdBefore: created },
      isMeant: ({ past, createdAt }) => (past?.createdAt ?? createdAt) < created,
    },
    {
      filter: { payloadContains: `${key}|` },
      isMeant: (item) => new TextDecoder().decode(item.payload).includes(`${key}|`),
    },
  ];
}

/** `listed`: by partition, the ready and leased items, then the scheduled ones. */
export async function checkFinds(
  world: WorldParts,
  queue: string,
  listed: readonly StoredItem[],
): Promise<void> {
  for (const one of searchCasesFor(listed.at(listed.length / 2))) {
    await checkFound(world, queue, { ...one, listed });
  }
  for (const by of summaryFields) await checkSummaries(world, { queue, by, listed });
  await checkHolders(world, queue, listed);
}

async function findAll(
  { bundle }: WorldParts,
  request: Pick<FindRequest, "queue" | "filter"> & Partial<FindRequest>,
): Promise<FoundItem[]> {
  const found: FoundItem[] = [];
  let pivot = "";
  do {
    const pageRequest = { limit: pageItems, ...request, pivot };
    const page = await bundle.run(() => bundle.engine.findItems(pageRequest));
    found.push(...page.found);
    pivot = page.nextPivot;
  } while (pivot !== "");
  return found;
}

async function checkFound(
  world: WorldParts,
  queue: string,
  { filter, state, isMeant, listed }: SearchCase & { readonly listed: readonly StoredItem[] },
): Promise<void> {
  const request = { queue, filter, ...(state && { state }) };
  const search = `${JSON.stringify({ filter, state })} in ${queue} finds`;
  const found = await findAll(world, request);
  // A list has the items of a partition in the order of their ids, whatever their priority.
  const [reported, meant] = [found.toSorted(inOrderOfList), listed.filter(isMeant)].map((items) =>
    items.map(({ id }) => id),
  );
  if (String(reported) !== String(meant)) {
    throw new Violation("I21", `${search} ${reported}, expected ${meant}`);
  }
  const sorted = found.toSorted(inOrderOfFind);
  if (found.some((item, index) => item !== sorted[index])) {
    throw new Violation("I21", `${search} ${found.map(({ id }) => id)} in the wrong order`);
  }
  const newest = await findAll(world, { ...request, order: "newest" });
  // The same items; the lines of a partition are each in reverse order.
  const lineOf = (item: FoundItem) =>
    `${item.partition} ${item.priority} ${item.state === "scheduled"}`;
  const backwards = found.toReversed();
  const [seen, expected] = [newest, backwards].map((items) =>
    [...Map.groupBy(items, lineOf).entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([line, all]) => `${line}: ${all.map(({ id }) => id)}`),
  );
  if (String(seen) !== String(expected)) {
    throw new Violation("I21", `${search}, newest first, ${seen}, expected ${expected}`);
  }
  if (found.length > pageItems) world.situations.reached("a search takes several pages");
}

function inOrderOfList(a: FoundItem, b: FoundItem): number {
  const aside = Number(a.state === "scheduled") - Number(b.state === "scheduled");
  return a.partition - b.partition || aside || (a.id < b.id ? -1 : 1);
}

function inOrderOfFind(a: FoundItem, b: FoundItem): number {
  return a.partition - b.partition || b.priority - a.priority || inOrderOfList(a, b);
}

async function checkSummaries(
  { bundle, situations }: WorldParts,
  what: {
    readonly queue: string;
    readonly by: SummaryField;
    readonly listed: readonly StoredItem[];
  },
): Promise<void> {
  const { queue, by, listed } = what;
  const request = { queue, by, filter: {}, pivot: "" };
  const { found } = await bundle.run(() => bundle.engine.summarizeItems(request));
  const meant = Map.groupBy(listed, (item) => valueBy(item, by));
  const isRight = ({ value, count, firstAt, lastAt, sampleId }: ItemSummary): boolean => {
    const items = meant.get(value) ?? [];
    const created = items.map(({ createdAt }) => createdAt);
    const isSampleRight = items.some(({ id }) => id === sampleId);
    const hasTimes = Math.min(...created) === firstAt && Math.max(...created) === lastAt;
    return items.length === count && isSampleRight && hasTimes;
  };
  const values = new Set(found.map(({ value }) => value));
  if (values.size !== meant.size || found.length !== meant.size || !found.every(isRight)) {
    const counted = [...meant].map(([value, { length }]) => `${value}: ${length}`);
    const reported = JSON.stringify(found);
    throw new Violation("I21", `${queue} by ${by} is ${reported}, expected ${counted}`);
  }
  if (found.length > 1) situations.reached("items have several summaries");
}

/** A find by holder returns the items of that client, and no others. */
async function checkHolders(
  world: WorldParts,
  queue: string,
  listed: readonly StoredItem[],
): Promise<void> {
  const { auditor, parameters, now } = world;
  const place = parameters.queues.find(({ name }) => name === queue);
  const held = place === undefined ? [] : auditor.tallyOf(place, now).held;
  const holders = new Map(held.map(({ grant: { id, client } }) => [id, client]));
  for (const holder of new Set(holders.values())) {
    if (holder === null) continue;
    const found = await findAll(world, { queue, filter: {}, holder });
    const ids = new Set(found.map(({ id }) => id));
    for (const { id, isLeased } of listed) {
      const client = holders.get(id) ?? null;
      const isRight = ids.has(id) ? isLeased && (client ?? holder) === holder : client !== holder;
      if (isRight) continue;
      throw new Violation(
        "I21",
        `a search for items of ${holder} is wrong about ${id}, held by ${client}`,
      );
    }
    world.situations.reached("items are found by their holder");
  }
}
