"""What tests look for in the objects that are stored, as these are compressed."""

from schedviz.store import Store, codec


def stored_json(store: Store) -> bytes:
    """The objects of all sandboxes and their copies in the watch logs, as JSON."""
    found: list[bytes] = []
    for meta in store.sandboxes():
        sandbox = store.handle(meta.name)
        objects, version = sandbox.stored_objects()
        found += (codec.expanded(each) for collection in objects.values() for each in collection.values())
        found += (fields[b"object"] for _, fields in sandbox.live("log", 0, version))
    return b"\n".join(found)
