// Imports a backlog of dead items, which a search reads.

import { Connection } from "../../testing/http-client.ts";

const batchSize = 1_000;
const clients = 4;

/** Each item is in the queue `dead`, with its origin and the reason of its failure. */
export async function importDeadItems(port: number, items: number): Promise<void> {
  let left = items;
  const importSome = async (): Promise<void> => {
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
      }));
      const request = { queue_name: "dead", partition: 0, items: dead };
      await connection.call("/v1/storage/items.import", request);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, importSome));
}
