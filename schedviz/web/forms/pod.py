"""+ Pod."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store import Sandbox
from schedviz.web.forms.base import ManifestForm, PairsField, TolerationsField, copies_field
from schedviz.web.view import format as fmt
from schedviz.web.view.picture import PRIORITY_CLASSES
from schedviz.web.view.priority import SYSTEM_PRIORITY
from simulator.api import Manifest


def usual_first(priority_class: Manifest) -> tuple[bool, int]:
    """Highest value first, Kubernetes' own classes last: few pods are that critical."""
    value: int = priority_class.get("value", 0)
    return value >= SYSTEM_PRIORITY, -value


class PodForm(ManifestForm):
    title = _("New Pod")
    fields_of: ClassVar[dict[str, str]] = {
        "metadata": "name",
        "metadata.namespace": "namespace",
        "spec.containers[0].resources.requests[cpu]": "cpu",
        "spec.containers[0].resources.requests[memory]": "memory",
        "spec.containers[0].resources.requests.cpu": "cpu",
        "spec.containers[0].resources.requests.memory": "memory",
        "spec.priorityClassName": "priority_class",
        "spec.nodeSelector": "node_selector",
        "spec.tolerations": "tolerations",
        "metadata.annotations": "run_seconds",
    }

    name = forms.CharField(
        label=_("Name"),
        initial="pod-",
        max_length=253,
        help_text=_("Ending in “-”, it is a generateName: the API server completes it."),
    )
    copies = copies_field()
    cpu = forms.CharField(label=_("CPU request"), initial="500m", required=False, max_length=40)
    memory = forms.CharField(label=_("Memory request"), initial="512Mi", required=False, max_length=40)
    priority_class = forms.ChoiceField(label=_("PriorityClass"), required=False)
    run_seconds = forms.IntegerField(
        label=_("Runs for, seconds"),
        required=False,
        min_value=1,
        max_value=10**9,
        help_text=_("Empty: until it is deleted."),
    )
    namespace = forms.CharField(label=_("Namespace"), initial="default", max_length=63)
    node_selector = PairsField(
        label=_("Node selector"), required=False, max_length=2000, help_text=_("disk=ssd, zone=a")
    )
    tolerations = TolerationsField(
        label=_("Tolerations"), required=False, max_length=2000, help_text=_("dedicated=gpu:NoSchedule")
    )

    more = ("namespace", "node_selector", "tolerations")
    """Fields behind the fold: a usual pod needs none."""

    def __init__(self, sandbox: Sandbox, *args: Any, **kwargs: Any) -> None:
        super().__init__(sandbox, *args, **kwargs)
        classes = sorted(sandbox.list(PRIORITY_CLASSES).items, key=usual_first)
        field = self.fields["priority_class"]
        assert isinstance(field, forms.ChoiceField)
        default = next((each for each in classes if each.get("globalDefault")), None)
        none = gettext("none: %(value)s") % {"value": fmt.number(default["value"] if default else 0)}
        names = [(each["metadata"]["name"], each.get("value", 0)) for each in classes]
        field.choices = [("", none), *((name, f"{name}: {fmt.number(value)}") for name, value in names)]

    def manifests(self) -> list[Manifest]:
        data = self.cleaned_data
        name, copies = data["name"], data["copies"]
        metadata: Manifest = {"namespace": data["namespace"]}
        if name.endswith("-") or copies > 1:
            metadata["generateName"] = name if name.endswith("-") else name + "-"
        else:
            metadata["name"] = name
        if data["run_seconds"]:
            metadata["annotations"] = {"schedviz/run-seconds": str(data["run_seconds"])}
        requests = {resource: data[resource] for resource in ("cpu", "memory") if data[resource]}
        container: Manifest = {"name": "main", "image": "registry.example/app:1"}
        if requests:
            container["resources"] = {"requests": requests}
        spec: Manifest = {"containers": [container]}
        if data["priority_class"]:
            spec["priorityClassName"] = data["priority_class"]
        if data["node_selector"]:
            spec["nodeSelector"] = data["node_selector"]
        if data["tolerations"]:
            spec["tolerations"] = data["tolerations"]
        manifest: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        return [manifest] * copies
