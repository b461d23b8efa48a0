"""The message of a slice in the broker: a task of Celery's protocol 2, as kombu stores it in Redis.

kombu itself would send it in a round trip of its own, behind the script that decides on its queue.
"""

import uuid
from typing import Final

import msgspec

from schedviz.tracing import context

TASK: Final = "schedviz.loop.slice"
"""The name of the Celery task."""

ORDER: Final = "@order"
QUEUE: Final = "@queue"
"""The places in a message for the order of the slice, null = none, and for the name of the queue."""


def encode_slice_message(name: str) -> bytes:
    """Return the message of a slice of the sandbox, as JSON in which ORDER and QUEUE are to be replaced. It
    has the context of the present trace."""
    trace = context()
    body = [[name, msgspec.Raw(ORDER.encode())], {"parent": trace} if trace else {}, {}]
    task = uuid.uuid4().hex
    message = {
        "body": msgspec.json.encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": TASK, "id": task},
        "properties": {"delivery_info": {"exchange": "", "routing_key": QUEUE}, "delivery_tag": task},
    }
    return msgspec.json.encode(message)
