"""The ASGI entry point: HTTP to Django, websockets to the live consumer."""

import gc
import os
import warnings
from typing import Any, Final

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# WhiteNoise returns files as synchronous iterators. They are small, and read in a thread.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
django.setup(set_prefix=False)

from schedviz.access.own_origin import OwnOriginOnly  # noqa: E402 (Django's apps must be set up first)
from schedviz.body_limit import BodyLimit  # noqa: E402 (as above)
from schedviz.lessons.catalogue import check_lessons  # noqa: E402 (as above)
from schedviz.limits.connections import Connection, allow_open_files  # noqa: E402 (as above)
from schedviz.live.access import SocketAccess  # noqa: E402 (as above)
from schedviz.live.routing import websocket_urlpatterns  # noqa: E402 (as above)
from schedviz.operate.expiry import delete_ended_regularly  # noqa: E402 (as above)
from schedviz.operate.web_metrics import write_regularly  # noqa: E402 (as above)
from schedviz.processes.schema_check import start_schema_check  # noqa: E402 (as above)
from schedviz.request_handler import RequestHandler  # noqa: E402 (as above)
from schedviz.store.default import prepare_default_store  # noqa: E402 (as above)
from schedviz.tracing import start_tracing  # noqa: E402 (as above)

__all__ = ["Connection", "application"]
"""What the command line of uvicorn names."""

GARBAGE_OBJECTS: Final = 20_000
"""How many objects are made until garbage is looked for: some 5 MB of them, if all are garbage."""

if settings.ACCESS == "owners" and not settings.HAS_SECRET_KEY:
    raise SystemExit("schedviz: SECRET_KEY must be set where ACCESS is owners: it signs their cookies")
start_schema_check(prepare_default_store().redis)
if mistake := check_lessons():
    raise SystemExit(f"schedviz: {mistake}")
allow_open_files()
write_regularly()
delete_ended_regularly()
start_tracing("web", settings.OTEL_EXPORTER_OTLP_ENDPOINT)

# With Python's own threshold of 700, garbage collection takes half of the CPU time of a large request:
# while one body is read, it looks at all objects of the process again and again.
gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])

sockets: Any = SocketAccess(URLRouter(websocket_urlpatterns))
if settings.ACCOUNTS:
    from channels.auth import AuthMiddlewareStack

    from schedviz.accounts.sockets import EndWithSession

    sockets = AuthMiddlewareStack(EndWithSession(sockets))

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(RequestHandler()),
        "websocket": OwnOriginOnly(sockets),
    }
)
