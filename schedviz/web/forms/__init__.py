"""The forms, by kind. A form only converts between fields and manifests; the API server validates the
manifests."""

from typing import Final

from schedviz.web.forms.base import ManifestForm
from schedviz.web.forms.device_class import DeviceClassForm
from schedviz.web.forms.disruption_budget import DisruptionBudgetForm
from schedviz.web.forms.node import NodeForm
from schedviz.web.forms.plain import PlainForm
from schedviz.web.forms.pod import PodForm
from schedviz.web.forms.pod_group import PodGroupForm, WorkloadForm
from schedviz.web.forms.priority_class import PriorityClassForm
from schedviz.web.forms.resource_claim import ResourceClaimForm, ResourceClaimTemplateForm

FORMS: Final[dict[str, type[ManifestForm]]] = {
    "pod": PodForm,
    "priorityclass": PriorityClassForm,
    "poddisruptionbudget": DisruptionBudgetForm,
    "node": NodeForm,
    "podgroup": PodGroupForm,
    "workload": WorkloadForm,
    "deviceclass": DeviceClassForm,
    "resourceclaim": ResourceClaimForm,
    "resourceclaimtemplate": ResourceClaimTemplateForm,
}
"""The forms by their names in URLs."""


def form_for(kind: str) -> type[ManifestForm]:
    """Return the form for a kind of objects; PlainForm, which has no fields, if there is none."""
    return next((form for form in FORMS.values() if kind in form.kinds), PlainForm)


__all__ = ["FORMS", "ManifestForm", "form_for"]
