"""What the last edit of a sandbox changed, in words."""

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext

from schedviz.api.stored_resource import find_stored
from schedviz.lessons.undo import Wrote
from schedviz.store.past import Readable
from schedviz.web.text import format as fmt

WRITES_AT_MOST: Final = 8
"""Maximum number of objects that are listed; the number of the others is shown."""


def edit_sentences(sandbox: Readable, writes: Sequence[Wrote]) -> list[str]:
    """Return a sentence for each object that an edit wrote. Without any it is another configuration of the
    scheduler."""
    if not writes:
        return [gettext("The scheduler's configuration was changed.")]
    found = [_write_sentence(sandbox, each) for each in writes[:WRITES_AT_MOST]]
    more = len(writes) - WRITES_AT_MOST
    return [*found, gettext("And %(n)s more objects.") % {"n": fmt.number(more)}] if more > 0 else found


def _write_sentence(sandbox: Readable, wrote: Wrote) -> str:
    text = {
        "ADDED": gettext("%(kind)s %(name)s was created."),
        "MODIFIED": gettext("%(kind)s %(name)s was changed."),
        "DELETED": gettext("%(kind)s %(name)s was deleted."),
    }[wrote.type]
    known = find_stored(sandbox, wrote.resource)
    return text % {"kind": known.kind if known else wrote.resource, "name": fmt.pod_name(wrote.key)}
