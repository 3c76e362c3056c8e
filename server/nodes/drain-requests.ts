// An operator's request that a node drains, or takes shards again. The node that receives the
// request checks it and records it in the row of the node in question.

import { QueueError, unknownOutcome } from "../../engine/model/errors.ts";
import { refuse } from "../../engine/model/validate.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import { HttpError } from "../http/reply.ts";
import type { Membership } from "./membership.ts";
import { acceptingNodes } from "./share.ts";

export interface DrainRequest {
  /** The node's URL, exactly as in its row. */
  readonly url: string;
  readonly isRequested: boolean;
}

/** Resolves to the node once all databases have recorded the request. */
export async function requestDrain(
  memberships: readonly Membership[],
  { url, isRequested }: DrainRequest,
): Promise<NodeRow> {
  checkUrl(url);
  await pollAgain(memberships);
  if (memberships.some(({ isStale }) => isStale)) {
    throw new HttpError("not_ready", "the database does not answer; nothing was changed");
  }
  // Check all databases before any is changed.
  const nodes = memberships.map(({ live }) => checked(live, { url, isRequested }));
  const written = await Promise.all(
    memberships.map((membership, database) =>
      membership.requestDrain(nodes[database] as NodeRow, isRequested).catch(() => null),
    ),
  );
  if (written.includes(null)) throw QueueError.from(unknownOutcome);
  if (written.includes(false)) throw noSuchNode(url, []);
  await pollAgain(memberships);
  return { ...(nodes[0] as NodeRow), isDrainRequested: isRequested };
}

async function pollAgain(memberships: readonly Membership[]): Promise<void> {
  await Promise.all(memberships.map((membership) => membership.pollAgain()));
}

/** Characters of a refused URL that are quoted back. */
const quotedMax = 100;

function checkUrl(url: string): void {
  if (URL.canParse(url)) return;
  const got = `got '${url.slice(0, quotedMax)}'`;
  refuse(`url is invalid; expected one such as 'http://10.0.0.7:9090', ${got}`);
}

function checked(live: readonly NodeRow[], { url, isRequested }: DrainRequest): NodeRow {
  const node = live.find((one) => one.url === url);
  if (node === undefined) throw noSuchNode(url, live);
  const others = acceptingNodes(live.filter((one) => one !== node && !one.isDrainRequested));
  if (isRequested && others.length === 0) {
    const message = `node cannot be drained; no node except '${url}' takes shards`;
    throw new HttpError("last_node", message);
  }
  return node;
}

function noSuchNode(url: string, live: readonly NodeRow[]): HttpError {
  const expected = live.length === 0 ? "" : `, expected ${live.map((one) => one.url).join(", ")}`;
  return new HttpError(
    "no_such_node",
    `node does not exist; no live node has '${url.slice(0, quotedMax)}'${expected}`,
  );
}
