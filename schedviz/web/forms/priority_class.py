"""+ PriorityClass."""

from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.web.forms.base import ManifestForm
from simulator.api import Manifest


class PriorityClassForm(ManifestForm):
    title = _("New PriorityClass")
    fields_of: ClassVar[dict[str, str]] = {
        "metadata": "name",
        "value": "value",
        "globalDefault": "global_default",
        "preemptionPolicy": "preemption_policy",
        "description": "description",
    }

    name = forms.CharField(label=_("Name"), initial="important", max_length=253)
    value = forms.IntegerField(
        label=_("Value"),
        initial=10000,
        help_text=_("At most 1000000000. Pods of a higher value are scheduled first and may preempt others."),
    )
    preemption_policy = forms.ChoiceField(
        label=_("Preemption policy"),
        choices=[
            ("PreemptLowerPriority", "PreemptLowerPriority"),
            ("Never", "Never"),
        ],
    )
    global_default = forms.BooleanField(label=_("globalDefault: for pods that name no class"), required=False)
    description = forms.CharField(label=_("Description"), required=False, max_length=500)

    more = ("description",)

    def manifests(self) -> list[Manifest]:
        data = self.cleaned_data
        manifest: Manifest = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": data["name"]},
            "value": data["value"],
            "preemptionPolicy": data["preemption_policy"],
        }
        if data["global_default"]:
            manifest["globalDefault"] = True
        if data["description"]:
            manifest["description"] = data["description"]
        return [manifest]
