"""The URLs for operators."""

from django.urls import path

from schedviz.operate import metrics_page

urlpatterns = [path("metrics", metrics_page.metrics, name="metrics")]
