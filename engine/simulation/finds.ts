// I21: what is found is what a filter over a list of all items would find, whatever the size of a page.

import type { FindRequest, FoundItem, StoredItem } from "../api.ts";
import { Violation } from "./auditor.ts";
import type { World } from "./world.ts";

/** Small, so that many a page begins in the middle. */
const pageItems = 3;

interface Sought {
  readonly filter: FindRequest["filter"];
  readonly isMeant: (item: StoredItem) => boolean;
}

/** By what is said of one item, and by what may be said of none. */
function soughtBy(one: StoredItem | undefined): Sought[] {
  const { kind = "none", reference = "none", payload = new Uint8Array() } = one ?? {};
  const key = new TextDecoder().decode(payload).split("|", 1)[0] ?? "";
  const created = one?.past?.createdAt ?? one?.createdAt ?? 0;
  const origin = one?.past?.origin ?? one?.id ?? "none";
  return [
    { filter: {}, isMeant: () => true },
    { filter: { kind }, isMeant: (item) => item.kind === kind },
    { filter: { reference }, isMeant: (item) => item.reference === reference },
    { filter: { originId: origin }, isMeant: ({ id, past }) => (past?.origin ?? id) === origin },
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

/** `listed`: each partition's items, those that wait for an instant after the others. */
export async function checkFinds(
  { bundle, situations }: World,
  queue: string,
  listed: readonly StoredItem[],
): Promise<void> {
  const { engine } = bundle;
  const findAll = async (request: Pick<FindRequest, "filter" | "order">): Promise<FoundItem[]> => {
    const found: FoundItem[] = [];
    let pivot = "";
    do {
      const asked = { ...request, queue, pivot, limit: pageItems };
      const page = await bundle.run(() => engine.findItems(asked));
      found.push(...page.found);
      pivot = page.nextPivot;
    } while (pivot !== "");
    return found;
  };
  for (const { filter, isMeant } of soughtBy(listed.at(listed.length / 2))) {
    const found = await findAll({ filter });
    const [told, meant] = [found, listed.filter(isMeant)].map((items) => items.map(({ id }) => id));
    if (String(told) !== String(meant)) {
      const said = `${JSON.stringify(filter)} in ${queue} finds ${told}, expected ${meant}`;
      throw new Violation("I21", said);
    }
    const newest = await findAll({ filter, order: "newest" });
    // The same ones, each line of a partition the other way round.
    const lineOf = (item: FoundItem) => `${item.partition} ${item.state === "scheduled"}`;
    const backwards = found.toReversed();
    const [seen, expected] = [newest, backwards].map((items) =>
      [...Map.groupBy(items, lineOf).entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([line, all]) => `${line}: ${all.map(({ id }) => id)}`),
    );
    if (String(seen) !== String(expected)) {
      const said = `${JSON.stringify(filter)} in ${queue} finds, newest first, ${seen}, expected ${expected}`;
      throw new Violation("I21", said);
    }
    if (found.length > pageItems) situations.reached("a search takes several pages");
  }
}
