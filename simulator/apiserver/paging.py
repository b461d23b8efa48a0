"""Continue tokens of paged lists: the key where the next page begins, and the version that all pages show.

Upstream: apiserver/pkg/storage/continue.go, v1.34. Tokens are opaque to clients.
"""

import base64
import json
import posixpath
import re

import msgspec

from simulator.apiserver.json_syntax import find_syntax_fault
from simulator.apiserver.status import BadRequest
from simulator.kernel.go_text import go_type_error

_ENCODING = "meta.k8s.io/v1"
LATEST = -1
"""A version in a token that means: continue the list with the current objects."""


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
    if fault := find_syntax_fault(data, is_utf8=True):
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
