"""+ Node."""

from itertools import count, islice
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.store import Sandbox
from schedviz.web.forms.base import ManifestForm, PairsField, TaintsField, copies_field
from simulator.api import Manifest

ZONE = "topology.kubernetes.io/zone"


class NodeForm(ManifestForm):
    title = _("New Node")
    fields_of: ClassVar[dict[str, str]] = {
        "metadata": "name",
        "metadata.labels": "labels",
        f"metadata.labels.{ZONE}": "zone",
        "spec.taints": "taints",
        "status.allocatable[cpu]": "cpu",
        "status.allocatable[memory]": "memory",
        "status.allocatable[pods]": "pods",
        "status.allocatable.cpu": "cpu",
        "status.allocatable.memory": "memory",
        "status.allocatable.pods": "pods",
    }

    name = forms.CharField(
        label=_("Name"),
        initial="node-",
        max_length=253,
        help_text=_("Ending in “-”, or for several copies, it is numbered: node-1, node-2."),
    )
    copies = copies_field()
    cpu = forms.CharField(label=_("CPU"), initial="4", max_length=40)
    memory = forms.CharField(label=_("Memory"), initial="16Gi", max_length=40)
    zone = forms.CharField(label=_("Zone"), required=False, max_length=63)
    pods = forms.CharField(label=_("Pods at most"), initial="110", max_length=40)
    labels = PairsField(label=_("Labels"), required=False, max_length=2000, help_text=_("disk=ssd, gpu=true"))
    taints = TaintsField(
        label=_("Taints"), required=False, max_length=2000, help_text=_("dedicated=gpu:NoSchedule")
    )

    more = ("pods", "labels", "taints")

    def __init__(self, sandbox: Sandbox, *args: Any, **kwargs: Any) -> None:
        super().__init__(sandbox, *args, **kwargs)
        nodes = sandbox.list("nodes").items
        self.taken = {node["metadata"]["name"] for node in nodes}
        zones = sorted({(node["metadata"].get("labels") or {}).get(ZONE, "") for node in nodes} - {""})
        self.fields["zone"].initial = zones[-1] if zones else "zone-a"

    def names(self) -> list[str]:
        """Numbered after the highest free number, so that a deleted node's name does not come back by
        chance."""
        name, copies = self.cleaned_data["name"], self.cleaned_data["copies"]
        if copies == 1 and not name.endswith("-"):
            return [name]
        prefix = name if name.endswith("-") else name + "-"
        rests = (each.removeprefix(prefix) for each in self.taken if each.startswith(prefix))
        highest = max((int(rest) for rest in rests if rest.isdecimal()), default=0)
        return [f"{prefix}{number}" for number in islice(count(highest + 1), copies)]

    def manifests(self) -> list[Manifest]:
        data = self.cleaned_data
        labels = dict(data["labels"])
        if data["zone"]:
            labels[ZONE] = data["zone"]
        amounts = {"cpu": data["cpu"], "memory": data["memory"], "pods": data["pods"]}
        made = []
        for name in self.names():
            metadata: Manifest = {"name": name} | ({"labels": labels} if labels else {})
            manifest: Manifest = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
            if data["taints"]:
                manifest["spec"] = {"taints": data["taints"]}
            manifest["status"] = {"capacity": amounts, "allocatable": amounts}
            made.append(manifest)
        return made
