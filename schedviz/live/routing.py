"""The URLs of the websockets."""

from django.urls import re_path

from schedviz.access.asker import LIVE
from schedviz.live.access import SocketRoute
from schedviz.live.consumers import LiveConsumer, RoomConsumer, UnknownPathConsumer
from schedviz.routes import PUBLIC

websocket_urlpatterns = [
    SocketRoute("s/<slug:name>/live/", LiveConsumer.as_asgi(), "live", read=LIVE),
    SocketRoute("rooms/<slug:code>/live/", RoomConsumer.as_asgi(), "room-live", read=PUBLIC, teacher=True),
    # Channels raises an error for a path that has no route.
    re_path("", UnknownPathConsumer.as_asgi()),
]
