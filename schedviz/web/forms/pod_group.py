"""Pod groups, where their feature gate is on."""

from typing import Final

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.forms.notation import Notation
from schedviz.web.picture.picture import PRIORITY_CLASSES
from simulator.api import Manifest

BASIC: Final = "basic"


def _read_policy(text: str) -> Manifest:
    """Parse a minCount, or the word for the policy without one. Raises ValueError."""
    return {"basic": {}} if text.strip() == BASIC else {"gang": {"minCount": int(text)}}


def _show_policy(policy: Manifest) -> str:
    return BASIC if policy == {"basic": {}} else str(policy["gang"]["minCount"])


def _show_topology(constraints: Manifest) -> str:
    [constraint] = constraints["topology"]
    return str(constraint["key"])


POLICY: Final = Notation(_read_policy, _show_policy)
TOPOLOGY: Final = Notation(lambda text: {"topology": [{"key": text}]}, _show_topology)


class PodGroupForm(ManifestForm):
    title = _("New PodGroup")
    kinds = ("PodGroup",)

    name = text_field(_("Name"), length=253)
    policy = text_field(
        "minCount",
        length=10,
        help_text=_(
            "So many pods of the group must have a node before any is bound; “basic”: each counts for itself."
        ),
    )
    topology = text_field(
        _("Topology key"),
        length=317,
        placeholder="example.com/rack",
        help_text=_("All pods of the group get nodes with the same value of this label."),
    )
    priority_class = forms.ChoiceField(label=_("PriorityClass"), required=False)
    disruption_mode = forms.ChoiceField(
        label="disruptionMode",
        required=False,
        choices=[("Pod", "Pod"), ("PodGroup", "PodGroup")],
        help_text=_("PodGroup: its pods are evicted together, or not at all."),
    )
    namespace = text_field(_("Namespace"), length=63)

    groups = ((_("More"), ("namespace",)),)
    fixed = ("name", "namespace", "policy", "topology", "priority_class", "disruption_mode")

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "namespace": FieldPlace("metadata", "namespace"),
            "policy": FieldPlace("spec", "schedulingPolicy", notation=POLICY),
            "topology": FieldPlace("spec", "schedulingConstraints", notation=TOPOLOGY),
            "priority_class": FieldPlace("spec", "priorityClassName"),
            "disruption_mode": FieldPlace("spec", "disruptionMode"),
        }
        classes = self.fields["priority_class"]
        assert isinstance(classes, forms.ChoiceField)
        classes.choices = [("", "-"), *((name, name) for name in self.sandbox.names(PRIORITY_CLASSES))]

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": "Pod"},
        }
