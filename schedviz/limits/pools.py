"""The pools: each has a bound in all, and one for each owner and each address, so that nobody takes it
whole."""

from typing import Final, NamedTuple

from django.conf import settings

from schedviz.access.record import digest_of
from schedviz.limit_settings import LimitName
from schedviz.limits.requester import Requester
from schedviz.store.places import Share


class Pool(NamedTuple):
    """The names of the limits of a pool."""

    in_all: LimitName
    of_owner: LimitName | None
    """None = an owner is not known yet when a place is taken."""
    of_address: LimitName
    of_sandbox: LimitName | None = None

    def shares(self, requester: Requester, sandbox: str = "") -> list[Share]:
        """Return the shares of which a requester takes a place. The address of a member of a room counts,
        too: everybody can open a room."""
        groups = [
            (self.in_all, ""),
            (self.of_address, requester.source and f"address {digest_of(requester.source)}"),
        ]
        if self.of_owner:
            groups.insert(1, (self.of_owner, requester.owner and f"owner {digest_of(requester.owner)}"))
        if self.of_sandbox and requester.counts:
            groups.append((self.of_sandbox, sandbox and f"sandbox {sandbox}"))
        found = [Share(limit, settings.LIMITS[limit], group) for limit, group in groups]
        return [share for share in found if share.at_most and (share.group or share.limit == self.in_all)]


ROOMS: Final = Pool("MAX_ROOMS", "MAX_ROOMS_PER_OWNER", "MAX_ROOMS_PER_ADDRESS")
COMPARISONS: Final = Pool("MAX_COMPARISONS", "MAX_COMPARISONS_PER_OWNER", "MAX_COMPARISONS_PER_ADDRESS")
QUESTIONS: Final = Pool(
    "MAX_WAITING_QUESTIONS", "MAX_WAITING_QUESTIONS_PER_OWNER", "MAX_WAITING_QUESTIONS_PER_ADDRESS"
)
IMPORTS: Final = Pool("MAX_IMPORTS", "MAX_IMPORTS_PER_OWNER", "MAX_IMPORTS_PER_ADDRESS")
SANDBOXES: Final = Pool("MAX_SANDBOXES", "MAX_SANDBOXES_PER_OWNER", "MAX_SANDBOXES_PER_ADDRESS")
WATCHES: Final = Pool(
    "MAX_WATCHES", "MAX_WATCHES_PER_OWNER", "MAX_WATCHES_PER_ADDRESS", "MAX_WATCHES_PER_SANDBOX"
)
SOCKETS: Final = Pool(
    "MAX_SOCKETS", "MAX_SOCKETS_PER_OWNER", "MAX_SOCKETS_PER_ADDRESS", "MAX_SOCKETS_PER_SANDBOX"
)
CONNECTIONS: Final = Pool("MAX_CONNECTIONS", None, "MAX_CONNECTIONS_PER_ADDRESS")
POOLS: Final = (ROOMS, COMPARISONS, QUESTIONS, IMPORTS, SANDBOXES, WATCHES, SOCKETS, CONNECTIONS)
