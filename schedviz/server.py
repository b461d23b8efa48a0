"""The web server: uvicorn with what schedviz needs of it. ``python -m schedviz.server --port=8000``"""

import argparse
import socket
import sys

from uvicorn import Config, Server

NOT_STARTED = 3
"""The exit status of uvicorn's own command for a server that does not start."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="schedviz.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--shares-port",
        action="store_true",
        help="other servers of this user listen there, too; Linux shares the connections out",
    )
    options = parser.parse_args()
    server = Server(
        Config(
            "schedviz.asgi:application",
            http="schedviz.asgi:Connection",
            log_level="warning",
            access_log=False,
            # Open pages hold sockets and streams, which would delay the end. They connect again.
            timeout_graceful_shutdown=1,
        )
    )
    server.run([bind(options.host, options.port, shares_port=options.shares_port)])
    if not server.started:
        sys.exit(NOT_STARTED)


def bind(host: str, port: int, *, shares_port: bool = False) -> socket.socket:
    """Return a socket with this address, as the server has it. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        # So that connections of its last run do not count.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares_port:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


if __name__ == "__main__":
    main()
