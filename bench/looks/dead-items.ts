// Imports a backlog of dead items for searches.

import { Connection } from "../../testing/http-client.ts";

const batchSize = 1_000;
const clients = 4;

interface Filling {
  readonly items: number;
  /** The kind of an item, by its number. */
  readonly kindOf?: (at: number) => string;
}

/** Each item is in the queue `dead`, with its origin and the reason of its failure. */
export async function fillDeadItems(port: number, { items, kindOf }: Filling): Promise<void> {
  let left = items;
  const one = async (): Promise<void> => {
    const connection = await Connection.open(port);
    while (left > 0) {
      const count = Math.min(batchSize, left);
      left -= count;
      const dead = Array.from({ length: count }, (_, index) => ({
        payload: btoa(`{"order":${left + index}}`),
        origin_queue: "orders",
        origin_attempts: 3,
        death: "failed",
        reason: `card ${index} declined`,
        ...(kindOf && { kind: kindOf(left + index) }),
      }));
      const request = { queue_name: "dead", partition: 0, items: dead };
      await connection.call("/v1/storage/items.import", request);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, one));
}
