"""The forms, by kind. Each only turns fields into manifests and back: what is right and wrong the API
server's checks say."""

from typing import Final

from schedviz.web.forms.base import ManifestForm
from schedviz.web.forms.disruption_budget import DisruptionBudgetForm
from schedviz.web.forms.node import NodeForm
from schedviz.web.forms.plain import PlainForm
from schedviz.web.forms.pod import PodForm
from schedviz.web.forms.priority_class import PriorityClassForm

FORMS: Final[dict[str, type[ManifestForm]]] = {
    "pod": PodForm,
    "priorityclass": PriorityClassForm,
    "poddisruptionbudget": DisruptionBudgetForm,
    "node": NodeForm,
}
"""By their names in the pages' paths."""


def form_for(kind: str) -> type[ManifestForm]:
    """The form that has fields for a kind of objects; one without any where there is none."""
    return next((form for form in FORMS.values() if kind in form.kinds), PlainForm)


__all__ = ["FORMS", "ManifestForm", "form_for"]
