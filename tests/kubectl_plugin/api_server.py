"""An API server of a few lines: it answers lists in pages, says no where it is told to, and notes what it was
asked."""

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from simulator.api import Manifest


class Answer:
    def __init__(self, code: int, body: Any, **headers: str) -> None:
        self.code, self.headers = code, headers
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


def refusal(code: int, message: str) -> Answer:
    return Answer(code, {"kind": "Status", "message": message, "code": code})


class ApiServer:
    """``answers``: path -> what is answered instead; a list of them is used one after the other."""

    def __init__(self, lists: dict[str, Sequence[Manifest]], version: str = "v1.36.2") -> None:
        self.lists = lists
        self.version = version
        self.page = 500
        self.answers: dict[str, Answer | list[Answer | None]] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """The method, path and query of each request."""
        self.hang = threading.Event()
        self.hanging = ""
        """The path whose answer waits for ``hang``, with the token of a page: ``/api/v1/pods 500``."""
        self.headers: dict[str, str] = {}
        """Those of the last request."""
        self.address = ""

    def answer(self, path: str, query: dict[str, str]) -> Answer:
        given = self.answers.get(path)
        if isinstance(given, list):
            given = given.pop(0) if given else None
        if given is not None:
            return given
        if path == "/version":
            return Answer(200, {"gitVersion": self.version})
        if path not in self.lists:
            folder, _, name = path.rpartition("/")
            prefix, _, rest = folder.partition("/namespaces/")
            namespace, _, plural = rest.partition("/")
            for item in self.lists.get(f"{prefix}/{plural}", []):
                metadata = item["metadata"]
                if (metadata.get("namespace"), metadata["name"]) == (namespace, name):
                    return Answer(200, item)
            return refusal(404, "the server could not find the requested resource")
        items = self.lists[path]
        start = int(query.get("continue", "0"))
        end = start + min(self.page, int(query.get("limit", "500")))
        more = str(end) if end < len(items) else ""
        return Answer(200, {"kind": "List", "metadata": {"continue": more}, "items": items[start:end]})


@contextmanager
def serving(server: ApiServer) -> Iterator[ApiServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet for head and body

        def log_message(self, *_: object) -> None:
            pass

        def _any(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            server.asked.append((self.command, parts.path, query))
            server.headers = dict(self.headers)
            if server.hanging and f"{parts.path} {query.get('continue', '')}".strip() == server.hanging:
                server.hang.wait()
                return
            found = server.answer(parts.path, query)
            body = gzip.compress(found.body)
            self.send_response(found.code)
            headers = {"Content-Encoding": "gzip", "Content-Length": str(len(body)), **found.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _any  # noqa: N815

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.hang.set()
            listening.shutdown()
            thread.join()


def write_kubeconfig(path: Path, server: str, **user: Any) -> Path:
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
                "current-context": "prod",
            }
        )
    )
    return path
