import json
import sys
import urllib.error
import urllib.request

from models import CompleteRequest, LeaseReply, LeaseRequest, ProduceRequest, Reply

url, queue, key = sys.argv[1:]


def call(operation, request, reply, token=key):
    """Returns the operation's reply, or a Reply that says why it was refused."""
    sent = urllib.request.Request(
        f"{url}/v1/{operation}",
        data=request.model_dump_json(exclude_unset=True).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    try:
        with urllib.request.urlopen(sent) as answer:
            return reply.model_validate_json(answer.read())
    except urllib.error.HTTPError as refused:
        return Reply.model_validate_json(refused.read())


produced = call(
    "queue.produce",
    ProduceRequest(queue_name=queue, request_timeout="1m", items=[{"utf8": "two anchors"}]),
    Reply,
)
print("produce", produced.code)

asked = LeaseRequest(queue_name=queue, client_id="worker-1", request_timeout="1s")
leased = call("queue.lease", asked, LeaseReply)
assert isinstance(leased, LeaseReply), leased
print("lease", len(leased.items), "item")

done = CompleteRequest(
    queue_name=queue,
    partition=leased.partition,
    request_timeout="1m",
    ids=[item.id for item in leased.items],
)
print("complete", call("queue.complete", done, Reply).code)
again = call("queue.complete", done, Reply)
print("complete again", again.code, again.reason)
empty = call("queue.lease", asked, LeaseReply)
print("lease again", empty.code, empty.reason)
refused = call("queue.lease", asked, LeaseReply, token="wrong")
print("a wrong key", refused.code, refused.reason)
