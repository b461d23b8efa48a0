"""Kubernetes' CEL library of URLs (apiserver/pkg/cel/library/urls.go), with the grammar and the errors
of Go's net/url."""

import re
import urllib.parse
from dataclasses import dataclass
from typing import Final

from simulator.cel.errors import ExpressionError
from simulator.cel.functions import Function
from simulator.cel.values import Map, Opaque, Value
from simulator.kernel.go_text import quote

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):", re.ASCII)
_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})(.{0,2})", re.DOTALL)
_VALID_PATH: Final = re.compile(r"[a-zA-Z0-9\-_.~!$&'()*+,;=:@\[\]%/]*", re.ASCII)
_BAD_HOST: Final = re.compile(r"[\x00-\x20\"<>\\^`{|}#?/@\x7f]")
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_USER: Final = re.compile(r"[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class URL(Opaque):
    type_name = "kubernetes.URL"
    go_name = "cel.URL"
    scheme: str
    host: str
    path: str
    query: str
    text: str

    def equals(self, other: Value) -> bool | None:
        return self.text == other.text if isinstance(other, URL) else None


def parse_request_uri(text: str) -> URL:
    """Return the URL of a text (url.ParseRequestURI). Raises ValueError with Go's error."""
    fault = _find_fault(text)
    if fault:
        raise ValueError(f"parse {quote(text)}: {fault}")
    return _split(text)


def _find_fault(text: str) -> str:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    if text == "*":
        return ""
    if text.startswith(":"):
        return "missing protocol scheme"
    url = _split(text)
    rest = text[len(url.scheme) + 1 :] if url.scheme else text
    if not rest.startswith("/"):
        return "" if url.scheme else "invalid URI for request"
    escape = _ESCAPE.search(url.path)
    return _find_host_fault(url.host, rest) or (f"invalid URL escape {quote(escape[0])}" if escape else "")


def _find_host_fault(host: str, rest: str) -> str:
    authority = rest[2:].partition("?")[0].partition("/")[0] if rest.startswith("//") else ""
    user, at, _ = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        return "net/url: invalid userinfo"
    end = host.rfind("]") if host.startswith("[") else -1
    if host.startswith("[") and end < 0:
        return "missing ']' in host"
    port = host[end + 1 :] if end >= 0 else host[host.rfind(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port):
        return f"invalid port {quote(port)} after host"
    bad = _BAD_HOST.search(host)
    if bad:
        return f"invalid character {quote(bad[0])} in host name"
    escape = _ESCAPE.search(host)
    return f"invalid URL escape {quote(escape[0])}" if escape else ""


def _split(text: str) -> URL:
    rest = text.partition("#")[0]
    found = _SCHEME.match(rest)
    scheme = found[1].lower() if found else ""
    rest = rest[found.end() :] if found else rest
    rest, _, query = rest.partition("?")
    host = ""
    if not rest.startswith("/") and scheme:  # an opaque URL has no path
        return URL(scheme, "", "", query, text)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = authority.rpartition("@")[2], slash + path
    return URL(scheme, host, rest, query, text)


def _parse(text: str) -> URL:
    try:
        return parse_request_uri(text)
    except ValueError as error:
        raise ExpressionError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        parse_request_uri(text)
    except ValueError:
        return False
    return True


def _get_hostname(url: URL) -> str:
    if url.host.startswith("["):
        return url.host[1:].partition("]")[0]
    return url.host.partition(":")[0]


def _get_port(url: URL) -> str:
    return url.host.rpartition("]")[2].partition(":")[2]


def _get_escaped_path(url: URL) -> str:
    if _VALID_PATH.fullmatch(url.path):
        return url.path
    return urllib.parse.quote(urllib.parse.unquote(url.path), safe="$&+,/:;=@-_.~")


def _get_query(url: URL) -> Map:
    found: dict[str, list[str]] = {}
    for part in url.query.split("&"):
        if not part or ";" in part or _ESCAPE.search(part):
            continue
        key, _, value = part.partition("=")
        found.setdefault(urllib.parse.unquote_plus(key), []).append(urllib.parse.unquote_plus(value))
    return Map(found.items())


_U: Final = URL.type_name
FUNCTIONS: Final = (
    Function("url", f"(string) -> {_U}", _parse),
    Function("isURL", "(string) -> bool", _is_url),
    Function("getScheme", f"{_U}.() -> string", lambda url: url.scheme),
    Function("getHost", f"{_U}.() -> string", lambda url: url.host),
    Function("getHostname", f"{_U}.() -> string", _get_hostname),
    Function("getPort", f"{_U}.() -> string", _get_port),
    Function("getEscapedPath", f"{_U}.() -> string", _get_escaped_path),
    Function("getQuery", f"{_U}.() -> map(string, list(string))", _get_query),
)
