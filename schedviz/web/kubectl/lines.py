"""The kubectl command for each act. Names are quoted for a POSIX shell where they need it."""

from collections.abc import Sequence
from shlex import quote

import msgspec
from django.utils.translation import gettext

from schedviz.web.forms.places import mapping
from schedviz.web.view.yaml import to_yaml
from simulator.api import Manifest
from simulator.apiserver.resources import NODES, PODS, Resource

END = "EOF"
"""Of the manifest that a shell hands to kubectl; no line of YAML that is written here is just this."""


def kubectl(*words: str) -> str:
    return " ".join(["kubectl", *(quote(word) for word in words)])


def on(verb: str, resource: Resource, key: str, *more: str) -> str:
    """A command on one object: ``kubectl delete pod web -n shop``. The namespace is told where it is not the
    default one."""
    namespace, _, name = key.rpartition("/")
    return kubectl(verb, resource.singular, name, *more, *inside(namespace))


def drain(node: str) -> str:
    """What a drain here does: DaemonSets' pods stay, and pods that nobody would make again go too."""
    return kubectl("drain", node, "--ignore-daemonsets", "--force")


def inside(namespace: str) -> tuple[str, ...]:
    return ("-n", namespace) if namespace not in ("", "default") else ()


class Shell(msgspec.Struct, frozen=True):
    """A command, and what it is for or what it prints."""

    text: str
    line: str


def of_pod(key: str) -> list[Shell]:
    return [
        Shell(gettext("its manifest"), on("get", PODS, key, "-o", "yaml")),
        Shell(gettext("delete it"), on("delete", PODS, key)),
    ]


def of_object(resource: Resource, key: str, manifest: Manifest) -> list[Shell]:
    scaled = "replicas" in (manifest.get("spec") or {})
    return [
        Shell(gettext("its manifest"), on("get", resource, key, "-o", "yaml")),
        *([Shell(gettext("how many"), on("scale", resource, key, "--replicas=3"))] if scaled else []),
        Shell(gettext("label it"), on("label", resource, key, "key=value")),
        Shell(gettext("delete it"), on("delete", resource, key)),
    ]


def events_of(key: str) -> str:
    namespace, _, name = key.rpartition("/")
    chosen = f"involvedObject.name={name}"
    return kubectl("get", "events", "--field-selector", chosen, *inside(namespace))


def of_node(name: str, *, cordoned: bool, failed: bool, taints: Sequence[str]) -> list[Shell]:
    """``taints`` as the page writes them; Kubernetes' own come and go with the node's conditions."""
    verb = "uncordon" if cordoned else "cordon"
    theirs = [taint for taint in taints if not taint.startswith("node.kubernetes.io/")]
    failure = "schedviz/failed-" if failed else "schedviz/failed=true"
    comes = gettext("let pods come again") if cordoned else gettext("let no more pods come")
    broken = gettext("mend it, here only") if failed else gettext("break it, here only")
    return [
        Shell(gettext("all about it"), on("describe", NODES, name)),
        Shell(comes, kubectl(verb, name)),
        Shell(gettext("move its pods away"), drain(name)),
        Shell(gettext("repel pods"), kubectl("taint", "nodes", name, "key=value:NoSchedule")),
        *(Shell(gettext("no longer"), kubectl("taint", "nodes", name, f"{taint}-")) for taint in theirs),
        Shell(gettext("label it"), kubectl("label", "nodes", name, "key=value")),
        Shell(broken, on("annotate", NODES, name, failure)),
        Shell(gettext("delete it"), on("delete", NODES, name)),
    ]


def create(manifests: Sequence[Manifest]) -> str:
    """Manifests given to kubectl by the shell; apply needs a name, so that generateName is for create, once
    for each copy."""
    if len(manifests) > 1 and all(each == manifests[0] for each in manifests):
        return f"for n in $(seq {len(manifests)}); do {create(manifests[:1])}\ndone"
    verb = "apply" if all("name" in mapping(each.get("metadata")) for each in manifests) else "create"
    return f"kubectl {verb} -f - <<'{END}'\n{to_yaml(manifests)}{END}"
