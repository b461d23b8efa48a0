"""The form for Pods, and for Deployments and Jobs by their pod templates."""

from collections.abc import Iterable, Mapping

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms import notation
from schedviz.web.forms import workload as workloads
from schedviz.web.forms.base import FieldPlace, ManifestForm, Pairs, copies_field, text_field
from schedviz.web.forms.pod_claims import ClaimsPlace, container_names, existing_sources
from schedviz.web.forms.resource_claim import with_names
from schedviz.web.manifests.paths import Path, get
from schedviz.web.picture.picture import PRIORITY_CLASSES
from schedviz.web.picture.priority import SYSTEM_PRIORITY
from schedviz.web.text import format as fmt
from simulator.api import Manifest
from simulator.versions.feature_gates import GENERIC_WORKLOAD

RESOURCES = ("spec", "containers", 0, "resources")
RUN_SECONDS = "schedviz/run-seconds"
FIRST = ("cpu", "memory")
"""The resources with a field each; the others share the field ``extended``."""


def usual_first(priority_class: Manifest) -> tuple[bool, int]:
    """Return the sort key of PriorityClasses: descending value, but the system classes last, because few pods
    use them."""
    value: int = priority_class.get("value", 0)
    return value >= SYSTEM_PRIORITY, -value


class PodForm(ManifestForm):
    title = _("New Pod")
    kinds = ("Pod", *workloads.WORKLOADS)

    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=253,
        help_text=_("A name that ends in “-” is a generateName: the API server completes it."),
    )
    workload = forms.ChoiceField(
        label=_("Create as"),
        choices=[("Pod", _("Pods")), ("Deployment", "Deployment"), ("Job", "Job")],
        required=False,
    )
    copies = copies_field()
    priority_class = forms.ChoiceField(label=_("PriorityClass"), required=False)
    cpu = text_field(_("CPU request"), length=40)
    memory = text_field(_("Memory request"), length=40)
    run_seconds = forms.IntegerField(
        label=_("Run time, seconds"),
        required=False,
        min_value=1,
        max_value=10**9,
        help_text=_("If this is empty, the pod runs until it is deleted."),
    )
    node_selector = text_field(_("Node selector"), placeholder="disk=ssd, zone=a")
    tolerations = text_field(_("Tolerations"), placeholder="dedicated=gpu:NoSchedule")
    node_affinity = text_field(
        _("Node affinity"),
        rows=2,
        placeholder="disk in (ssd, nvme)",
        help_text=_("One term per line. A term with a weight, “10: disk=ssd”, is preferred, not required."),
    )
    pod_affinity = text_field(
        _("Pod affinity"),
        rows=2,
        placeholder="app=web @ topology.kubernetes.io/zone",
        help_text=_(
            "Run near the pods of a selector: selector @ topologyKey. With a weight before it, it is "
            "preferred."
        ),
    )
    pod_anti_affinity = text_field(
        _("Pod anti-affinity"),
        rows=2,
        placeholder="app=web @ kubernetes.io/hostname",
        help_text=_("Keep away from the pods of a selector."),
    )
    topology_spread = text_field(
        _("Topology spread constraints"),
        rows=2,
        placeholder="1 DoNotSchedule: app=web @ topology.kubernetes.io/zone",
        help_text=_("maxSkew and whenUnsatisfiable, then selector @ topologyKey."),
    )
    namespace = text_field(_("Namespace"), length=63)
    labels = text_field(_("Labels"), placeholder="app=web")
    cpu_limit = text_field(_("CPU limit"), length=40)
    memory_limit = text_field(_("Memory limit"), length=40)
    extended = text_field(
        _("Extended resources"),
        placeholder="nvidia.com/gpu=1",
        help_text=_("Sets the request and the limit: they must be equal."),
    )
    claims = text_field(
        _("Resource claims"),
        rows=2,
        placeholder="gpus=template/two-gpus",
        help_text=_(
            "claim/NAME or template/NAME, one per line; “for” names the containers, if not all use it."
        ),
    )
    pod_group = text_field("PodGroup", length=253)
    gates = text_field(_("Scheduling gates"), placeholder="example.com/quota")
    grace = forms.IntegerField(
        label=_("Grace period, seconds"), required=False, min_value=0, max_value=86_400
    )
    scheduler_name = text_field(_("Scheduler"), length=253, placeholder="default-scheduler")

    groups = (
        (
            _("Where it may run"),
            (
                "node_selector",
                "tolerations",
                "node_affinity",
                "pod_affinity",
                "pod_anti_affinity",
                "topology_spread",
            ),
        ),
        (
            _("More fields of the pod"),
            (
                "namespace",
                "labels",
                "cpu_limit",
                "memory_limit",
                "extended",
                "claims",
                "pod_group",
                "gates",
                "grace",
                "scheduler_name",
            ),
        ),
    )
    fixed = ("name", "namespace", "workload")
    own = (
        *ManifestForm.own,
        *(("metadata", field) for field in ("name", "generateName", "namespace")),
        *(path for paths in workloads.COPIES.values() for path in paths),
        ("spec", "selector", "matchLabels", workloads.APP),
        (*workloads.TEMPLATE, "spec", "restartPolicy"),
    )

    def set_up(self, manifest: Manifest) -> None:
        requests, limits = (*RESOURCES, "requests"), (*RESOURCES, "limits")
        affinity = ("spec", "affinity")
        self.places = {
            "cpu": FieldPlace(*requests, "cpu"),
            "memory": FieldPlace(*requests, "memory"),
            "cpu_limit": FieldPlace(*limits, "cpu"),
            "memory_limit": FieldPlace(*limits, "memory"),
            "extended": Pairs(
                *requests, notation=notation.PAIRS, belongs=lambda key: key not in FIRST, also=(limits,)
            ),
            "priority_class": FieldPlace("spec", "priorityClassName"),
            "run_seconds": FieldPlace("metadata", "annotations", RUN_SECONDS),
            "labels": FieldPlace("metadata", "labels", notation=notation.PAIRS),
            "node_selector": FieldPlace("spec", "nodeSelector", notation=notation.PAIRS),
            "tolerations": FieldPlace("spec", "tolerations", notation=notation.TOLERATIONS),
            "node_affinity": FieldPlace(*affinity, "nodeAffinity", notation=notation.NODE_AFFINITY),
            "pod_affinity": FieldPlace(*affinity, "podAffinity", notation=notation.POD_AFFINITY),
            "pod_anti_affinity": FieldPlace(*affinity, "podAntiAffinity", notation=notation.POD_AFFINITY),
            "topology_spread": FieldPlace(
                "spec", "topologySpreadConstraints", notation=notation.TOPOLOGY_SPREAD
            ),
            "claims": ClaimsPlace(container_names(get(manifest, self.root(manifest)) or {})),
            "pod_group": FieldPlace("spec", "schedulingGroup", "podGroupName"),
            "gates": FieldPlace("spec", "schedulingGates", notation=notation.GATES),
            "grace": FieldPlace("spec", "terminationGracePeriodSeconds", notation=notation.NUMBER),
            "scheduler_name": FieldPlace("spec", "schedulerName"),
        }
        if not self.sandbox.meta().features().enabled(GENERIC_WORKLOAD):
            del self.fields["pod_group"], self.places["pod_group"]
        claims = self.fields["claims"]
        claims.help_text = with_names(
            claims.help_text, _("There are: {names}."), existing_sources(self.sandbox)
        )
        self._offer_classes(str(get(manifest, (*self.root(manifest), "spec", "priorityClassName")) or ""))
        if self.exists:
            self.fields["name"].help_text = ""
            if manifest.get("kind") == "Pod":
                del self.fields["copies"]

    def _offer_classes(self, chosen: str) -> None:
        """Set the choices of the PriorityClass. ``chosen`` is added if it does not exist."""
        classes = sorted(self.sandbox.list(PRIORITY_CLASSES).items, key=usual_first)
        field = self.fields["priority_class"]
        assert isinstance(field, forms.ChoiceField)
        default = next((each for each in classes if each.get("globalDefault")), None)
        none = gettext("none: %(value)s") % {"value": fmt.number(default["value"] if default else 0)}
        known = {each["metadata"]["name"]: each.get("value", 0) for each in classes}
        names = [(name, f"{name}: {fmt.number(value)}") for name, value in known.items()]
        missing = [(chosen, chosen)] if chosen and chosen not in known else []
        field.choices = [("", none), *names, *missing]

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        requests = {"cpu": "500m", "memory": "512Mi"}
        container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"generateName": "pod-", "namespace": "default"},
            "spec": {"containers": [container]},
        }

    def root(self, manifest: Manifest) -> Path:
        return workloads.TEMPLATE if manifest.get("kind") in workloads.WORKLOADS else ()

    def show(self, manifest: Manifest) -> dict[str, str]:
        texts = super().show(manifest)
        metadata = manifest.get("metadata") or {}
        texts |= {
            "workload": manifest["kind"],
            "name": workloads.name_of(manifest),
            "namespace": str(metadata.get("namespace") or ""),
        }
        if manifest["kind"] != "Pod":
            copies = [FieldPlace(*path).show(manifest) for path in workloads.COPIES[manifest["kind"]][:1]]
            texts["copies"] = copies[0] or "1"
        return texts

    def write(self, manifest: Manifest, changed: Iterable[str]) -> Manifest:
        """Write the kind first, because it moves the pod template; the name last, because it depends on kind
        and copies."""
        data, changed = self.cleaned_data, set(changed)
        copies = data.get("copies") or 1
        if "workload" in changed and data["workload"]:
            manifest = workloads.convert(data["workload"], manifest, copies)
        super().write(manifest, changed)
        if "namespace" in changed:
            manifest.setdefault("metadata", {}).pop("namespace", None)
            if data["namespace"]:
                manifest["metadata"]["namespace"] = data["namespace"]
        if "copies" in changed:
            workloads.put_copies(manifest, copies)
        if changed & {"name", "copies"} or ("labels" in changed and manifest["kind"] == "Deployment"):
            name = data["name"] if "name" in changed else workloads.name_of(manifest)
            workloads.put_name(manifest, name, copies)
        return manifest

    def manifests(self, manifest: Manifest) -> list[Manifest]:
        copies = self.cleaned_data.get("copies") or 1
        return [manifest] * (copies if manifest.get("kind") == "Pod" else 1)

    def paths_of(self) -> Mapping[str, list[str]]:
        own = {"name": ["metadata", "metadata.name"], "namespace": ["metadata.namespace"]}
        prefixes = ("", "spec.template.")
        placed = {
            name: [prefix + path for prefix in prefixes for path in paths]
            for name, paths in super().paths_of().items()
        }
        return {**own, **placed, "copies": ["spec.replicas", "spec.completions", "spec.parallelism"]}

    def clean_name(self) -> str:
        return str(self.cleaned_data["name"]).strip()
