"""Websocket paths."""

from django.urls import path

from schedviz.live.consumers import LiveConsumer

websocket_urlpatterns = [path("s/<slug:name>/live/", LiveConsumer.as_asgi())]
