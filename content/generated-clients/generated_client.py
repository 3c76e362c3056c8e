import sys

from holdfast.api.items import complete, lease, produce
from holdfast.client import AuthenticatedClient
from holdfast.models import (
    CompleteRequest,
    LeaseReply,
    LeaseRequest,
    ProduceItem,
    ProduceRequest,
)

url, queue, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)

item = ProduceItem(utf8="two anchors")
produced = produce.sync(
    client=client,
    body=ProduceRequest(queue_name=queue, request_timeout="1m", items=[item]),
)
print("produce", produced.code)

asked = LeaseRequest(queue_name=queue, client_id="worker-1", request_timeout="1s")
leased = lease.sync(client=client, body=asked)
assert isinstance(leased, LeaseReply), leased
print("lease", len(leased.items), "item")

done = CompleteRequest(
    queue_name=queue,
    partition=leased.partition,
    request_timeout="1m",
    ids=[item.id for item in leased.items],
)
print("complete", complete.sync(client=client, body=done).code)
# A refusal is a Reply, whatever its code.
again = complete.sync(client=client, body=done)
print("complete again", again.code, again.reason)
empty = lease.sync(client=client, body=asked)
print("lease again", empty.code, empty.reason)

stranger = AuthenticatedClient(base_url=url, token="wrong")
refused = lease.sync(client=stranger, body=asked)
print("a wrong key", refused.code, refused.reason)
