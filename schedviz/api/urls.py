"""The REST paths of a sandbox."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
