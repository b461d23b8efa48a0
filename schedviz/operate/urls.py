"""The URLs for operators."""

from typing import Final

from schedviz.operate import metrics_page
from schedviz.routes import PUBLIC, ApiRoute

# Its view asks for a token of the operator's.
urlpatterns: Final = [ApiRoute("metrics", metrics_page.metrics, "metrics", read=PUBLIC)]
