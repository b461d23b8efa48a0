"""Pod disruption budgets."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms import notation
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.text.links import in_english
from simulator.api import Manifest


class DisruptionBudgetForm(ManifestForm):
    title = _("New PodDisruptionBudget")
    kinds = ("PodDisruptionBudget",)

    name = text_field(_("Name"), length=253)
    selector = text_field(
        _("Selector"),
        placeholder="app=web",
        help_text=_("Selects the pods that it protects: key=value, key in (a, b), !key."),
    )
    min_available = text_field(
        in_english("minAvailable"), length=40, help_text=_("A number or a percentage: 50%.")
    )
    max_unavailable = text_field(
        in_english("maxUnavailable"), length=40, help_text=_("Set this or minAvailable, not both.")
    )
    namespace = text_field(_("Namespace"), length=63)
    unhealthy = forms.ChoiceField(
        label=_("Unhealthy pods"),
        required=False,
        choices=[
            ("", format_lazy(_("Default ({value})"), value="IfHealthyBudget")),
            ("IfHealthyBudget", "IfHealthyBudget"),
            ("AlwaysAllow", "AlwaysAllow"),
        ],
    )

    groups = ((_("More"), ("namespace", "unhealthy")),)

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "namespace": FieldPlace("metadata", "namespace"),
            "selector": FieldPlace("spec", "selector", notation=notation.LABEL_SELECTOR),
            "min_available": FieldPlace("spec", "minAvailable", notation=notation.INT_OR_STRING),
            "max_unavailable": FieldPlace("spec", "maxUnavailable", notation=notation.INT_OR_STRING),
            "unhealthy": FieldPlace("spec", "unhealthyPodEvictionPolicy"),
        }

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
