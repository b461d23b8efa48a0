"""Makes and withdraws the links of a sandbox."""

import secrets
from collections.abc import Callable

from msgspec.structs import replace

from schedviz.access.record import (
    LABEL_AT_MOST,
    LINKS_AT_MOST,
    AccessRecord,
    Link,
    LinkRight,
    digest_of,
    new_token,
    read_record,
    write_record,
)
from schedviz.loop import ring
from schedviz.store import NoSandbox, Sandbox
from schedviz.store.default import default_store


class TooManyLinks(Exception):
    """The sandbox has LINKS_AT_MOST links."""


def make_link(sandbox: Sandbox, right: LinkRight, label: str) -> tuple[Link, str]:
    """Return a new link, and its token, which is shown once. Raises TooManyLinks, NoSandbox."""
    token = new_token()
    shown = " ".join("".join(each if each.isprintable() else " " for each in label[:400]).split())
    link = Link(secrets.token_hex(4), right, shown[:LABEL_AT_MOST].strip(), sandbox.wall(), digest_of(token))

    def add(record: AccessRecord) -> AccessRecord:
        if len(record.links) >= LINKS_AT_MOST:
            raise TooManyLinks
        return replace(record, links=(*record.links, link))

    change_record(sandbox, add)
    return link, token


def withdraw_link(sandbox: Sandbox, number: str) -> None:
    """Withdraw the link with this id, and end the hold that its user has. Nothing changes if there is none.
    Raises NoSandbox."""
    users: list[str] = []

    def remove(record: AccessRecord) -> AccessRecord:
        users.extend(each.user for each in record.links if each.id == number)
        return replace(record, links=tuple(each for each in record.links if each.id != number))

    change_record(sandbox, remove)
    for user in users:
        default_store().hold(sandbox.name).release_of(user)
    ring(sandbox.name)  # pages and watches that are open by this link are closed


def change_record(sandbox: Sandbox, change: Callable[[AccessRecord], AccessRecord]) -> None:
    """Change the access record of a sandbox. Raises NoSandbox."""
    while True:
        was = sandbox.access()
        if was is None:
            raise NoSandbox(sandbox.name)
        if sandbox.set_access(write_record(change(read_record(was))), was):
            return
