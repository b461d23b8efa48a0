"""The forms, by kind. Each only turns fields into manifests: what is right and wrong the API server's
checks say."""

from typing import Final

from schedviz.web.forms.base import ManifestForm
from schedviz.web.forms.node import NodeForm
from schedviz.web.forms.pod import PodForm
from schedviz.web.forms.priority_class import PriorityClassForm

FORMS: Final[dict[str, type[ManifestForm]]] = {
    "pod": PodForm,
    "priorityclass": PriorityClassForm,
    "node": NodeForm,
}

__all__ = ["FORMS", "ManifestForm"]
