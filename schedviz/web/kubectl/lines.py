"""The kubectl command for each action of the page, with words quoted for a POSIX shell."""

from collections.abc import Sequence
from shlex import quote

import msgspec
from django.utils.translation import gettext

from schedviz.web.manifests.paths import mapping
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS

OBJECTS_AT_MOST = 50
"""Maximum number of objects in a here-document. More would take long to write; they are applied from a
file."""

END = "EOF"
"""Delimiter of the here-document with a manifest. :func:`to_yaml` writes no line that is equal to it."""


def kubectl(*words: str) -> str:
    return " ".join(["kubectl", *(quote(word) for word in words)])


def object_command(verb: str, resource: Resource, key: str, *more: str) -> str:
    """Return a command on one object: ``kubectl delete pod web -n shop``, without ``-n`` for the default
    namespace."""
    namespace, _, name = key.rpartition("/")
    return kubectl(verb, resource.singular, name, *more, *namespace_flag(namespace))


def drain(node: str) -> str:
    """Return the command with the same effect as :func:`schedviz.web.objects.drain.drain_node`: pods of
    DaemonSets stay; pods without a controller are evicted, too."""
    return kubectl("drain", node, "--ignore-daemonsets", "--force")


def namespace_flag(namespace: str) -> tuple[str, ...]:
    return ("-n", namespace) if namespace not in ("", "default") else ()


class Shell(msgspec.Struct, frozen=True):
    """A command, and its purpose."""

    text: str
    line: str


class Output(msgspec.Struct, frozen=True):
    """A command with its output, which a panel shows folded."""

    fold: str
    """The id of the element that folds it."""
    line: str
    text: str | None
    """None = it is folded, and not needed."""


def of_pod(key: str) -> list[Shell]:
    return [
        Shell(gettext("show its manifest"), object_command("get", PODS, key, "-o", "yaml")),
        Shell(gettext("delete it"), object_command("delete", PODS, key)),
    ]


def of_object(resource: Resource, key: str, manifest: Manifest) -> list[Shell]:
    scaled = "replicas" in (manifest.get("spec") or {})
    return [
        Shell(gettext("show its manifest"), object_command("get", resource, key, "-o", "yaml")),
        *(
            [Shell(gettext("how many"), object_command("scale", resource, key, "--replicas=3"))]
            if scaled
            else []
        ),
        Shell(gettext("label it"), object_command("label", resource, key, "key=value")),
        Shell(gettext("delete it"), object_command("delete", resource, key)),
    ]


def events_of(key: str) -> str:
    namespace, _, name = key.rpartition("/")
    chosen = f"involvedObject.name={name}"
    return kubectl("get", "events", "--field-selector", chosen, *namespace_flag(namespace))


def of_node(name: str, *, cordoned: bool, failed: bool, taints: Sequence[str]) -> list[Shell]:
    """Return the commands for a node. taints: as ``key=value:Effect``; those of node conditions are left
    out."""
    verb = "uncordon" if cordoned else "cordon"
    removable = [taint for taint in taints if not taint.startswith("node.kubernetes.io/")]
    failure = "schedviz/failed-" if failed else "schedviz/failed=true"
    comes = gettext("make it schedulable") if cordoned else gettext("make it unschedulable")
    broken = gettext("repair it (in schedviz only)") if failed else gettext("make it fail (in schedviz only)")
    return [
        Shell(comes, kubectl(verb, name)),
        Shell(gettext("drain it"), drain(name)),
        Shell(gettext("taint it"), kubectl("taint", "nodes", name, "key=value:NoSchedule")),
        *(
            Shell(gettext("remove the taint"), kubectl("taint", "nodes", name, f"{taint}-"))
            for taint in removable
        ),
        Shell(gettext("label it"), kubectl("label", "nodes", name, "key=value")),
        Shell(broken, object_command("annotate", NODES, name, failure)),
        Shell(gettext("delete it"), object_command("delete", NODES, name)),
    ]


def create(manifests: Sequence[Manifest]) -> str:
    """Return the command that creates the manifests: ``kubectl apply``; ``kubectl create`` for a
    generateName, which apply refuses. Several equal manifests are created in a loop."""
    if len(manifests) > 1 and all(each == manifests[0] for each in manifests):
        return f"for n in $(seq {len(manifests)}); do {create(manifests[:1])}\ndone"
    if len(manifests) > OBJECTS_AT_MOST:
        return "kubectl apply -f manifests.yaml  # More > Download > Manifests (YAML)"
    verb = "apply" if all("name" in mapping(each.get("metadata")) for each in manifests) else "create"
    return f"kubectl {verb} -f - <<'{END}'\n{to_yaml(manifests)}{END}"
