"""Priority classes."""

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms import notation
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from simulator.api import Manifest


class PriorityClassForm(ManifestForm):
    title = _("New PriorityClass")
    kinds = ("PriorityClass",)

    name = text_field(_("Name"), length=253)
    value = forms.IntegerField(
        label=_("Value"),
        required=False,
        help_text=_(
            "At most 1000000000. Pods with a higher value are scheduled first and may preempt others."
        ),
    )
    preemption_policy = forms.ChoiceField(
        label=_("Preemption policy"),
        required=False,
        choices=[
            ("PreemptLowerPriority", "PreemptLowerPriority"),
            ("Never", "Never"),
        ],
    )
    global_default = forms.BooleanField(label=_("globalDefault: for pods that name no class"), required=False)
    description = text_field(_("Description"), length=500)

    groups = ((_("More"), ("description",)),)
    fixed = ("name", "value", "preemption_policy")

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "value": FieldPlace("value", notation=notation.NUMBER),
            "preemption_policy": FieldPlace("preemptionPolicy"),
            "global_default": FieldPlace("globalDefault", notation=notation.FLAG),
            "description": FieldPlace("description"),
        }

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "important"},
            "value": 10_000,
            "preemptionPolicy": "PreemptLowerPriority",
        }
