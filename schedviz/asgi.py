"""The ASGI entry point: HTTP to Django, websockets to the live consumer."""

import os
import warnings

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# WhiteNoise hands out files as plain iterators. They are small, and read in a thread.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
http = get_asgi_application()

from schedviz.live.routing import websocket_urlpatterns  # noqa: E402 (Django's apps must be set up first)

application = ProtocolTypeRouter(
    {"http": http, "websocket": AllowedHostsOriginValidator(URLRouter(websocket_urlpatterns))}
)
