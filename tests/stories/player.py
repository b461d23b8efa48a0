"""Plays stories on a sandbox, by Django's handler in this process."""

import json
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client

from tests.stories.request import Gone, at, fill

Json = dict[str, Any]

_KEPT = ("content-type", "warning", "retry-after", "allow")
"""The headers of answers that are compared."""
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Player:
    """A client of the API of one sandbox."""

    def __init__(self, sandbox: str) -> None:
        self._prefix = f"/s/{sandbox}"
        self._client = Client(raise_request_exception=False)

    def play(self, story: Json, ident: str) -> list[Json]:
        """Return the answers to the story's requests, played in a new namespace."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"ns-{ident}"}}
        made = self._perform({"method": "POST", "path": "/api/v1/namespaces", "body": namespace}, ident, [])
        assert made["status"] == 201, made
        bodies: list[Any] = []
        results = []
        for step in story["steps"]:
            # A request may say how long a real server needs before it; a sandbox needs no time.
            try:
                result = self._perform(step["request"], ident, bodies)
            except Gone as gone:
                result = {"status": 0, "text": f"not sent: {gone}"}
            bodies.append(result.get("body", result.get("events")))
            results.append(result)
        return results

    def _perform(self, request: Json, ident: str, answers: Sequence[Any]) -> Json:
        """Send one request. Return ``status``, ``headers``, and ``body``, ``events`` or ``text``."""
        headers = {"User-Agent": "story/1", "Accept": "application/json", "Host": "localhost"}
        headers |= request.get("headers", {})
        data = b""
        if "raw" in request:
            data = fill(request["raw"], ident, answers).encode()
        elif "body" in request:
            data = json.dumps(fill(request["body"], ident, answers)).encode()
        content_type = headers.pop("Content-Type", "application/json" if data else "")
        query = fill(request.get("query", {}), ident, answers)
        path = self._prefix + urllib.parse.quote(fill(request["path"], ident, answers), safe="/:~.-_%")
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        # Without a body, the client leaves the content type out.
        typed = {"CONTENT_TYPE": content_type} if content_type else {}
        response = self._client.generic(request["method"], path, data, headers=headers, **typed)
        answer: Json = {"status": response.status_code, "headers": _headers(response)}
        watching = str(query.get("watch", "")).lower() not in ("", "0", "false")
        text = _content(response).decode("utf-8", "replace")
        if watching and response.status_code == 200 and text:
            answer["events"] = _without_bookmarks(json.loads(line) for line in text.splitlines())
        elif text:
            _add_body(answer, text, request.get("pick"))
        return answer


def _content(response: HttpResponseBase) -> bytes:
    """The whole body; a watch is read until it ends."""
    if isinstance(response, StreamingHttpResponse):
        return async_to_sync(_read)(response)
    assert isinstance(response, HttpResponse)
    return response.content


async def _read(response: StreamingHttpResponse) -> bytes:
    return b"".join([part async for part in response])


def _headers(response: HttpResponseBase) -> Json:
    kept: Json = {name: response.headers[name] for name in _KEPT if name in response.headers}
    if "warning" in kept:
        kept["warning"] = kept["warning"].split(", 299 ")
        kept["warning"][1:] = [f"299 {each}" for each in kept["warning"][1:]]
    return kept


def _add_body(answer: Json, text: str, pick: list[str] | None) -> None:
    try:
        body = json.loads(text)
    except ValueError:
        answer["text"] = text
        return
    answer["body"] = {pointer: _at_or_none(body, pointer) for pointer in pick} if pick else body


def _at_or_none(body: Any, pointer: str) -> Any:
    try:
        return at(body, pointer)
    except (LookupError, TypeError, ValueError):
        return None


def _without_bookmarks(events: Iterable[Json]) -> list[Json]:
    """Leave out bookmarks, whose times are chance, but for the one that ends the initial events."""
    return [
        event
        for event in events
        if event.get("type") != "BOOKMARK"
        or _INITIAL_EVENTS_END in event.get("object", {}).get("metadata", {}).get("annotations", {})
    ]
