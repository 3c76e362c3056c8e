// Shell commands that take an item from produce to complete. The introduction of the API, the site
// and the README show them.

export const firstCalls = `call() {
  curl -sw '\\n' "localhost:9090/v1/$1" \\
    -H 'Content-Type: application/json' -d "$2"
}
call queues.create '{"queue_name": "orders-dead",
  "lease_timeout": "60m", "expire_timeout": "240h"}'
call queues.create '{"queue_name": "orders", "dead_queue": "orders-dead",
  "lease_timeout": "60m", "expire_timeout": "24h", "max_attempts": 3}'
call queue.produce '{"queue_name": "orders", "request_timeout": "1m",
  "items": [{"utf8": "two anchors"}]}'
lease=$(call queue.lease '{"queue_name": "orders", "client_id": "worker-1",
  "request_timeout": "1m", "batch_size": 1}')
echo "$lease"
id=$(echo "$lease" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
call queue.complete '{"queue_name": "orders", "partition": 0,
  "request_timeout": "1m", "ids": ["'$id'"]}'
`;
