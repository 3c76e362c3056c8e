// I23: the replies about all queues match the state of the shards. Checked with a listing that is
// read page by page, and with an overview of what changed since the last one.

import type { Engine } from "../../../engine/model/api.ts";
import { Violation } from "../../../engine/simulation/auditor.ts";
import type { OverviewQueues, ServerOverviewReply } from "../../../openapi/schemas.ts";
import { Caller, JsonText, type Routes } from "../../routes/route.ts";
import type { ShardRoutes } from "../../shards/routes.ts";

/** A page starts with the last queue of the page before, so each page adds one queue. */
const limit = 2;

interface Checked {
  /** The routes across all shards. */
  readonly routes: ShardRoutes;
  /** `locals` and `engines`: each shard's routes and engine at its owner, by number. */
  readonly locals: readonly ShardRoutes[];
  readonly engines: readonly Engine<string>[];
}

export class Wholes {
  #since = "";
  /** The rows by queue, collected from all overviews since the last whole one. */
  readonly #rows = new Map<string, string>();

  /** May only run while the world is at rest. */
  async check({ routes, locals, engines }: Checked): Promise<void> {
    const all = { pivot: "", limit: 1_000 };
    const names = engines.flatMap((engine) => engine.listQueues(all).map(({ name }) => name));
    same("the queues that are listed", await listed(routes), names.toSorted());
    const overview = await overviewOf(routes, this.#since);
    reachedAll("the overview", overview);
    this.#take(overview);
    const replies = await Promise.all(locals.map((local) => overviewOf(local, "")));
    const rows = replies.flatMap(({ queues }) => [...rowsOf(queues)]);
    same("the overview", [...this.#rows].toSorted(), rows.toSorted());
  }

  #take({ whole, since, queues, removed }: ServerOverviewReply): void {
    if (whole) this.#rows.clear();
    for (const name of removed) this.#rows.delete(name);
    for (const [name, row] of rowsOf(queues)) this.#rows.set(name, row);
    this.#since = since;
  }
}

/** A reply may leave out shards that are unreachable; here all are reachable. */
function reachedAll(what: string, { unreached }: { readonly unreached: readonly number[] }): void {
  same(`the shards that are missing in ${what}`, unreached, []);
}

function same(what: string, found: readonly unknown[], expected: readonly unknown[]): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Violation("I23", `${what}: ${a}, expected ${b}`);
}

function rowsOf(queues: OverviewQueues): Map<string, string> {
  const columns = Object.values(queues);
  const rows = queues.queue_name.map((name, place) => {
    const row = columns.map((column) => column[place]);
    return [name, JSON.stringify(row)] as const;
  });
  return new Map(rows);
}

async function listed({ listQueues }: Pick<Routes, "listQueues">): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const pivot = names.at(-1) ?? "";
    const page = await asked(listQueues({ pivot, limit }, newCaller()));
    reachedAll("a page of queues", page);
    const found = page.items.map(({ queue_name }) => queue_name);
    names.push(...found.filter((name) => name !== pivot));
    if (found.length < limit) return names;
  }
}

async function overviewOf(
  { overview }: Pick<Routes, "overview">,
  since: string,
): Promise<ServerOverviewReply> {
  return await asked(overview({ since }, newCaller()));
}

function newCaller(): Caller {
  return new Caller({ client: new AbortController(), requestKey: null });
}

async function asked<T>(reply: Promise<T | JsonText>): Promise<T> {
  const found = await reply;
  return found instanceof JsonText ? JSON.parse(found.text) : found;
}
