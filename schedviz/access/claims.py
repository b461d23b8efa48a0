"""Gives the sandboxes of an owner to another one."""

from contextlib import suppress

from msgspec.structs import replace

from schedviz.access.links import change_record
from schedviz.access.record import AccessRecord, read_record
from schedviz.store import NoSandbox, Store


def claim_sandboxes(store: Store, was: str, owner: str) -> None:
    """Transfer the sandboxes of the owner ``was`` to another owner, with their links."""

    def claim(record: AccessRecord) -> AccessRecord:
        return replace(record, owner=owner) if record.owner == was else record

    found, unreadable = store.summaries(())
    records = {each.meta.name: each.access for each in found} | unreadable
    for name, access in records.items():
        if read_record(access).owner == was:
            with suppress(NoSandbox):  # somebody has deleted it
                change_record(store.handle(name), claim)
