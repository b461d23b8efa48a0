"""Websocket paths."""

from django.urls import path, re_path

from schedviz.live.consumers import LiveConsumer, RoomConsumer, UnknownPathConsumer

websocket_urlpatterns = [
    path("s/<slug:name>/live/", LiveConsumer.as_asgi()),
    path("rooms/<slug:code>/live/", RoomConsumer.as_asgi()),
    # Channels raises an error for a path that has no route.
    re_path("", UnknownPathConsumer.as_asgi()),
]
