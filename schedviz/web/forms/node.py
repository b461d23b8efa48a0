"""The form for Nodes."""

from collections.abc import Iterable
from itertools import count, islice
from typing import Any, Final, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms import notation
from schedviz.web.forms.base import FieldPlace, ManifestForm, Pairs, copies_field, text_field
from schedviz.web.manifests.paths import get, mapping
from schedviz.web.picture.picture import NODES
from simulator.api import Manifest
from simulator.objects.device_notation import DEVICES

ZONE: Final = "topology.kubernetes.io/zone"
ALLOCATABLE, CAPACITY = ("status", "allocatable"), ("status", "capacity")
FIRST: Final = ("cpu", "memory", "pods")


class Machine(NamedTuple):
    label: Any
    cpu: str
    memory: str
    extended: dict[str, str]


MACHINES: Final = {
    "small": Machine(_("Small: 2 cpu, 4Gi"), "2", "4Gi", {}),
    "medium": Machine(_("Medium: 4 cpu, 16Gi"), "4", "16Gi", {}),
    "large": Machine(_("Large: 16 cpu, 64Gi"), "16", "64Gi", {}),
    "gpu": Machine(_("GPU: 8 cpu, 64Gi, 4 nvidia.com/gpu"), "8", "64Gi", {"nvidia.com/gpu": "4"}),
}


def amounts(name: str) -> FieldPlace:
    return FieldPlace(*ALLOCATABLE, name, also=((*CAPACITY, name),))


class NodeForm(ManifestForm):
    title = _("New Node")
    kinds = ("Node",)

    name = text_field(_("Name"), length=253, help_text=_("Several copies get consecutive numbers."))
    copies = copies_field()
    machine = forms.ChoiceField(label=_("Instance type"), required=False)
    zone = text_field(_("Zone"), length=63)
    zones = text_field(
        _("Further zones"), help_text=_("Separated by commas. The copies are spread evenly over all zones.")
    )
    cpu = text_field(_("CPU"), length=40)
    memory = text_field(_("Memory"), length=40)
    unschedulable = forms.BooleanField(label=_("Cordoned"), required=False)
    taints = text_field(_("Taints"), placeholder="dedicated=gpu:NoSchedule")
    labels = text_field(_("Labels"), placeholder="disk=ssd, gpu=true")
    pods = text_field(_("Maximum number of pods"), length=40)
    extended = text_field(_("Extended resources"), placeholder="nvidia.com/gpu=4")
    devices = text_field(
        _("Devices"),
        rows=2,
        placeholder="gpu.example.com: 4 x a100 memory=40Gi",
        help_text=_(
            "A driver per line, then its devices: NUMBER x MODEL KEY=VALUE, separated by commas. The node "
            "publishes them in a ResourceSlice."
        ),
    )

    of_copies = ("copies", "zones")
    groups = ((_("More"), ("taints", "labels", "pods", "extended", "devices", "unschedulable")),)
    own = (*ManifestForm.own, ("metadata", "name"))

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "zone": FieldPlace("metadata", "labels", ZONE),
            "labels": Pairs("metadata", "labels", notation=notation.PAIRS, belongs=lambda key: key != ZONE),
            "unschedulable": FieldPlace("spec", "unschedulable", notation=notation.FLAG),
            "taints": FieldPlace("spec", "taints", notation=notation.TAINTS),
            **{name: amounts(name) for name in FIRST},
            "devices": FieldPlace("metadata", "annotations", DEVICES),
            "extended": Pairs(
                *ALLOCATABLE, notation=notation.PAIRS, belongs=lambda key: key not in FIRST, also=(CAPACITY,)
            ),
        }
        field = self.fields["machine"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, machine.label) for name, machine in MACHINES.items()] + [("", _("Custom"))]
        if self.exists:
            for name in self.of_copies:
                del self.fields[name]
            self.fields["name"].help_text = ""

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        """Return a medium node with the next free number, in the zone of the last node."""
        names = sandbox.names(NODES)
        last = (sandbox.get(NODES, max(names)) if names else None) or {}
        zone = get(last, ("metadata", "labels", ZONE)) or "zone-a"
        medium = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        (name,) = node_names("node-", names, 1)
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {ZONE: zone}},
            "status": {"capacity": medium, "allocatable": {**medium}},
        }

    def show(self, manifest: Manifest) -> dict[str, str]:
        texts = super().show(manifest)
        found = texts["cpu"], texts["memory"], self.means("extended", texts["extended"]) or {}
        matching = (name for name, machine in MACHINES.items() if machine[1:] == found)
        return texts | {"machine": next(matching, "")}

    def write(self, manifest: Manifest, changed: Iterable[str]) -> Manifest:
        chosen = MACHINES.get(self.cleaned_data.get("machine", ""))
        if "machine" in changed and chosen:
            for name, value in (
                ("cpu", chosen.cpu),
                ("memory", chosen.memory),
                ("extended", chosen.extended),
            ):
                self.places[name].write(manifest, value)
            changed = {*changed} - {"cpu", "memory", "extended"}
        return super().write(manifest, changed)

    def manifests(self, manifest: Manifest) -> list[Manifest]:
        copies, name = self.cleaned_data.get("copies") or 1, str(get(manifest, ("metadata", "name")) or "")
        if copies == 1 and not name.endswith("-"):
            return [manifest]
        names = node_names(name, self.sandbox.names(NODES), copies)
        metadata = mapping(manifest.get("metadata"))
        labels = mapping(metadata.get("labels"))
        further = [*filter(None, map(str.strip, self.cleaned_data.get("zones", "").split(",")))]
        zones = [*dict.fromkeys([labels.get(ZONE), *further])] if further else []
        made = []
        for number, each in enumerate(names):
            own: Manifest = {"name": each}
            if zones:
                own["labels"] = {**labels, ZONE: zones[number % len(zones)]}
            made.append({**manifest, "metadata": {**metadata, **own}})
        return made


def node_names(name: str, taken: Iterable[str], copies: int) -> list[str]:
    """Return the names of new nodes: "node-" -> node-1, node-2; "node-5" -> node-5, node-6. The numbers are
    greater than all in ``taken``, so that the name of a deleted node is not used again."""
    prefix = name.rstrip("0123456789")
    own = name[len(prefix) :]
    prefix = prefix if prefix.endswith("-") or own else f"{prefix}-"
    rests = [each.removeprefix(prefix) for each in taken if each.startswith(prefix)]
    highest = max((int(rest) for rest in rests if rest.isdecimal()), default=0)
    first = max(int(own), highest + 1) if own else highest + 1
    return [f"{prefix}{number}" for number in islice(count(first), copies)]
