// What a newcomer pastes: a clone, a server, and an item from produce to complete. The site and
// the README show it; `app/testing/first-steps.ts` pastes it.

/** Without an address for the clone, one has to be there already. */
export function firstSteps(repository: string | null): string {
  return `${repository === null ? "" : `git clone ${repository} holdfast\n`}${steps}`;
}

const steps = `(cd holdfast && npx --yes bun start) &
curl -sw '\\n' --retry 300 --retry-delay 1 --retry-connrefused \\
  localhost:9090/readyz
call() {
  curl -sw '\\n' "localhost:9090/v1/$1" \\
    -H 'Content-Type: application/json' -d "$2"
}
call queues.create '{"queue_name": "parcels-dead",
  "lease_timeout": "60m", "expire_timeout": "240h"}'
call queues.create '{"queue_name": "parcels", "dead_queue": "parcels-dead",
  "lease_timeout": "60m", "expire_timeout": "24h"}'
call queue.produce '{"queue_name": "parcels", "request_timeout": "1m",
  "items": [{"utf8": "two anchors"}]}'
lease=$(call queue.lease '{"queue_name": "parcels", "client_id": "worker-1",
  "request_timeout": "1m", "batch_size": 1}')
echo "$lease"
id=$(echo "$lease" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
call queue.complete '{"queue_name": "parcels", "partition": 0,
  "request_timeout": "1m", "ids": ["'$id'"]}'
`;
