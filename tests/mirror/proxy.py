"""A proxy before an API server: it notes all requests, refuses some, and cuts connections."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Proxy:
    """``allows``: whether a request (method, path) is passed on; what is not gets ``code``."""

    def __init__(self) -> None:
        self.allows: Callable[[str, str], bool] = lambda method, path: True
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.code = 403
        self.is_down = False
        self.address = ""
        self._open: list[socket.socket] = []

    def watches(self) -> int:
        return sum("watch" in query for _, _, query in self.asked)

    def cut(self) -> None:
        """End all connections."""
        was, self._open = self._open, []
        for each in was:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def before(target: str) -> Iterator[Proxy]:
    """``target``: the address of the API server."""
    proxy, parts = Proxy(), urlsplit(target)
    assert parts.hostname

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _any(self) -> None:
            asked = urlsplit(self.path)
            proxy.asked.append(
                (self.command, asked.path, {name: each[0] for name, each in parse_qs(asked.query).items()})
            )
            if proxy.is_down:
                self.close_connection = True
                return
            if not proxy.allows(self.command, asked.path):
                refusal = {"kind": "Status", "message": "forbidden by the proxy", "code": proxy.code}
                self._send(proxy.code, json.dumps(refusal).encode())
                return
            proxy._open.append(self.connection)
            upstream = http.client.HTTPConnection(str(parts.hostname), parts.port)
            try:
                upstream.request(self.command, parts.path + self.path, headers={"Accept": "application/json"})
                answer = upstream.getresponse()
                if "watch=" in asked.query:
                    self._stream(answer)
                else:
                    self._send(answer.status, answer.read(), answer.headers["Date"])
            finally:
                upstream.close()

        def _send(self, code: int, body: bytes, date: str | None = None) -> None:
            self.send_response_only(code)
            if date:
                self.send_header("Date", date)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, answer: http.client.HTTPResponse) -> None:
            self.send_response_only(answer.status)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):
                while part := answer.read1(1 << 16):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Connections are cut on purpose."""

    with Server(("127.0.0.1", 0), Handler) as listening:
        proxy.address = f"http://127.0.0.1:{listening.server_port}"
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield proxy
        finally:
            listening.shutdown()
            proxy.cut()
