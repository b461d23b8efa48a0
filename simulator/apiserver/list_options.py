"""ListOptions: the query parameters of a list or watch request, and the continue tokens of paged lists: the
key where the next page begins, and the version that all pages show. Tokens are opaque to clients.

Upstream: apimachinery/pkg/apis/meta/internalversion (types.go, defaults.go, validation/validation.go) and
apiserver/pkg/storage/continue.go."""

import base64
import json
import posixpath
import re
from typing import Self

import msgspec

from simulator.apiserver.json_syntax import find_syntax_fault
from simulator.apiserver.query import Query, boolean_parameter, integer_parameter
from simulator.apiserver.served_features import served_version
from simulator.apiserver.status import BadRequest, Cause, Invalid, forbidden, not_supported
from simulator.kernel.go_text import go_type_error

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
_ENCODING = "meta.k8s.io/v1"
LATEST = -1
"""A version in a token that means: continue the list with the current objects."""


class ListOptions(msgspec.Struct, frozen=True):
    label_selector: str = ""
    field_selector: str = ""
    watch: bool = False
    allow_watch_bookmarks: bool = False
    resource_version: str = ""
    resource_version_match: str = ""
    timeout_seconds: int | None = None
    limit: int = 0
    """Maximum number of objects in a page; 0 = no limit."""
    continue_token: str = ""
    send_initial_events: bool | None = None

    @classmethod
    def of(cls, query: Query) -> Self:
        """Parse the options of a request, and set their defaults. Raises BadRequest or Invalid."""
        options = cls(
            label_selector=query.get("labelSelector", ""),
            field_selector=query.get("fieldSelector", ""),
            watch=boolean_parameter(query, "watch"),
            allow_watch_bookmarks=boolean_parameter(query, "allowWatchBookmarks"),
            resource_version=query.get("resourceVersion", ""),
            resource_version_match=query.get("resourceVersionMatch", ""),
            timeout_seconds=integer_parameter(query, "timeoutSeconds"),
            limit=max(0, integer_parameter(query, "limit") or 0),
            continue_token=query.get("continue", ""),
            send_initial_events=boolean_parameter(query, "sendInitialEvents")
            if "sendInitialEvents" in query
            else None,
        )
        options = options.with_defaults()
        causes = options.faults()
        if causes:
            raise Invalid("ListOptions", "meta.k8s.io", "", causes)
        return options

    def with_defaults(self) -> Self:
        """Set the defaults: a watch without a resourceVersion begins with the existing objects, like one with
        sendInitialEvents (SetListOptionsDefaults)."""
        asked = self.send_initial_events is not None or self.resource_version_match
        if not self.watch or asked or self.resource_version not in ("", "0"):
            return self
        return msgspec.structs.replace(self, send_initial_events=True, resource_version_match=NOT_OLDER_THAN)

    def faults(self) -> list[Cause]:
        field, match = "resourceVersionMatch", self.resource_version_match
        causes = []
        if self.watch:
            if self.send_initial_events is not None and match != NOT_OLDER_THAN:
                detail = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
                causes.append(forbidden(field, detail))
            if match and self.send_initial_events is None:
                detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
                causes.append(forbidden(field, detail))
            if match not in ("", NOT_OLDER_THAN):
                causes.append(not_supported(field, match, [NOT_OLDER_THAN]))
        else:
            if match and not self.resource_version:
                detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
                causes.append(forbidden(field, detail))
            if match not in ("", EXACT, NOT_OLDER_THAN):
                causes.append(not_supported(field, match, [EXACT, NOT_OLDER_THAN, ""], as_given=True))
            if match == EXACT and self.resource_version == "0":
                detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
                causes.append(forbidden(field, detail))
            if self.send_initial_events is not None:
                causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
        if match and self.continue_token:
            detail = "resourceVersionMatch is forbidden when continue is provided"
            causes.append(forbidden(field, detail))
        return causes


class ContinuePosition(msgspec.Struct, frozen=True):
    """The position of the next page: the objects after the key ``after``, at ``version``."""

    after: str
    version: int

    def token(self) -> str:
        text = json.dumps(
            {"v": _ENCODING, "rv": self.version, "start": f"{self.after}\0"}, separators=(",", ":")
        )
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_continue_token(token: str) -> ContinuePosition:
    """Parse a continue token. Raises BadRequest."""
    found = _decode_token(token)
    match found:
        case {"v": str(kind)} if kind != _ENCODING:
            raise _not_valid(f'server does not recognize this encoded version "{kind[:100]}"')
        case {"v": str(), "rv": int(version), "start": str(start)} if -1 <= version < 1 << 63 and version:
            if not start:
                raise _not_valid(f"encoded start key empty (version {_ENCODING})")
            path = "/" + start.removeprefix("/")
            if posixpath.normpath(path) != path:
                raise _not_valid(start[:100])
            return ContinuePosition(start.removesuffix("\0"), version)
        case {"v": str()}:
            raise _not_valid(f"incorrect encoded start resourceVersion (version {_ENCODING})")
    raise _not_valid('server does not recognize this encoded version ""')


def _decode_token(token: str) -> object:
    wrong = re.search(r"[^A-Za-z0-9_-]", token)
    if wrong or len(token) % 4 == 1:
        at = wrong.start() if wrong else len(token) - 1
        raise _not_valid(f"illegal base64 data at input byte {at}")
    data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    if fault := find_syntax_fault(data, is_utf8=not served_version().unreadable_bodies_are_refused):
        raise _not_valid(fault)
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise _not_valid("unexpected end of JSON input") from None
    if found is None or isinstance(found, dict):
        return found
    raise _not_valid(go_type_error(found, "storage.continueToken"))


def _not_valid(detail: str) -> BadRequest:
    return BadRequest(f"invalid continue token: continue key is not valid: {detail}")
