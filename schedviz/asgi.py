"""The ASGI entry point: HTTP to Django, websockets to the live consumer."""

import os
import warnings
from typing import Any

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
from schedviz.live.routing import websocket_urlpatterns  # noqa: E402 (as above)
from schedviz.operate.expiry import delete_ended_regularly  # noqa: E402 (as above)
from schedviz.operate.web_metrics import write_regularly  # noqa: E402 (as above)
from schedviz.processes.garbage import look_for_garbage_less_often  # noqa: E402 (as above)
from schedviz.processes.schema_check import start_schema_check  # noqa: E402 (as above)
from schedviz.request_handler import RequestHandler  # noqa: E402 (as above)
from schedviz.store.default import prepare_default_store  # noqa: E402 (as above)
from schedviz.tracing import start_tracing  # noqa: E402 (as above)

__all__ = ["Connection", "application"]
"""What the command line of uvicorn names."""

if settings.ACCESS == "owners" and not settings.HAS_SECRET_KEY:
    raise SystemExit("schedviz: SECRET_KEY must be set where ACCESS is owners: it signs their cookies")
start_schema_check(prepare_default_store().redis)
if mistake := check_lessons():
    raise SystemExit(f"schedviz: {mistake}")
allow_open_files()
write_regularly()
delete_ended_regularly()
look_for_garbage_less_often()
start_tracing("web", settings.OTEL_EXPORTER_OTLP_ENDPOINT)

sockets: Any = URLRouter(websocket_urlpatterns)
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
