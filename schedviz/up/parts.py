"""What ``manage.py up`` starts and shows, by name."""

SERVER = [
    "uvicorn",
    "schedviz.asgi:application",
    "--log-level=warning",
    "--no-access-log",
    # Open pages hold sockets and streams, and would hold up the end: they reconnect by themselves.
    "--timeout-graceful-shutdown=1",
]
"""The ASGI server, without its address."""

DEMO = "demo"
"""The sandbox that a first visitor finds."""
