"""PodGroups and Workloads, where their feature gate is on."""

from typing import ClassVar, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.forms.notation import Notation
from schedviz.web.manifests.paths import Path
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


def _read_template(text: str) -> Manifest:
    workload, _, template = text.partition("/")
    return {"workload": {"workloadName": workload, "podGroupTemplateName": template}}


def _show_template(reference: Manifest) -> str:
    workload = reference["workload"]
    return f"{workload['workloadName']}/{workload['podGroupTemplateName']}"


POLICY: Final = Notation(_read_policy, _show_policy)
TOPOLOGY: Final = Notation(lambda text: {"topology": [{"key": text}]}, _show_topology)
TEMPLATE: Final = Notation(_read_template, _show_template)


class _GroupFields(ManifestForm):
    """The fields of a group, which PodGroups and the templates of Workloads have."""

    at: ClassVar[Path] = ("spec",)
    """The path of these fields."""

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
    fixed = ("name", "namespace", "policy", "topology", "priority_class", "disruption_mode", "template")

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "namespace": FieldPlace("metadata", "namespace"),
            "policy": FieldPlace(*self.at, "schedulingPolicy", notation=POLICY),
            "topology": FieldPlace(*self.at, "schedulingConstraints", notation=TOPOLOGY),
            "priority_class": FieldPlace(*self.at, "priorityClassName"),
            "disruption_mode": FieldPlace(*self.at, "disruptionMode"),
        }
        classes = self.fields["priority_class"]
        assert isinstance(classes, forms.ChoiceField)
        classes.choices = [("", "-"), *((name, name) for name in self.sandbox.names(PRIORITY_CLASSES))]


class PodGroupForm(_GroupFields):
    title = _("New PodGroup")
    kinds = ("PodGroup",)
    template = text_field(
        "Workload",
        length=400,
        placeholder="train/workers",
        help_text=_("The Workload and the name of its template from which this PodGroup is made."),
    )
    groups = ((_("More"), ("namespace", "template")),)

    def set_up(self, manifest: Manifest) -> None:
        super().set_up(manifest)
        self.places["template"] = FieldPlace("spec", "podGroupTemplateRef", notation=TEMPLATE)

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": "Pod"},
        }


class WorkloadForm(_GroupFields):
    """A Workload with one template; more of them are written in the YAML."""

    title = _("New Workload")
    kinds = ("Workload",)
    at = ("spec", "podGroupTemplates", 0)
    template = text_field(
        _("Template"),
        length=63,
        help_text=_("The name of the template, from which PodGroups are made."),
    )
    field_order = ("name", "template")
    groups = ((_("More"), ("namespace",)),)

    def set_up(self, manifest: Manifest) -> None:
        super().set_up(manifest)
        self.places["template"] = FieldPlace(*self.at, "name")

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        template = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": "Pod"}
        return {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "Workload",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"podGroupTemplates": [template]},
        }
