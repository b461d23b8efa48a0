"""Shapes of nodes as text: ``name=big,cpu=16,memory=64Gi,zone=a,price=0.8``, ``like=node-3,price=0.8``."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from simulator.api import Manifest
from simulator.objects.node import ZONE, Node
from simulator.objects.pod_requests import CPU, MEMORY
from simulator.objects.quantity import parse_quantity
from simulator.questions.add_nodes import NodeShape
from simulator.questions.answer import BadQuestion

USUAL_PODS: Final = "110"
"""maxPods of a kubelet, by default."""
LABEL: Final = "label."
LENGTH_AT_MOST: Final = 2_000
RESOURCES: Final = (CPU, MEMORY, "pods", "ephemeral-storage")


def parse_shapes(texts: Sequence[str], nodes: Mapping[str, Manifest]) -> list[NodeShape]:
    """nodes: those of the cluster, which ``like`` names. Raises BadQuestion, with the number of the text and
    the name of the part that is wrong."""
    return [_parse(text, f"shapes[{index}]", nodes) for index, text in enumerate(texts)]


def _parse(text: str, place: str, nodes: Mapping[str, Manifest]) -> NodeShape:
    if len(text) > LENGTH_AT_MOST:
        raise BadQuestion(f"{place}: at most {LENGTH_AT_MOST} characters")
    parts: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise BadQuestion(f"{place}: {part!r} is not of the form name=value")
        if name in parts:
            raise BadQuestion(f"{place}: {name} is given twice")
        parts[name] = value
    price = _price(parts.pop("price", ""), place)
    like = parts.pop("like", "")
    if like and like not in nodes:
        raise BadQuestion(f"{place}: like: there is no node {like!r}")
    name = parts.pop("name", "") or like or f"shape-{parts.get(CPU, '')}"
    node = _copy(nodes[like]) if like else _new()
    if "zone" in parts:
        node["metadata"]["labels"][ZONE] = parts.pop("zone")
    for key, value in parts.items():
        if key.startswith(LABEL):
            node["metadata"]["labels"][key.removeprefix(LABEL)] = value
        elif key in RESOURCES or "/" in key:
            node["status"]["allocatable"][key] = value
            _check_quantity(value, f"{place}: {key}")
        else:
            known = ", ".join(("name", "like", "zone", "price", *RESOURCES, f"{LABEL}KEY"))
            raise BadQuestion(f"{place}: {key!r} is none of {known} or an extended resource")
    for resource in (CPU, MEMORY):
        if resource not in node["status"]["allocatable"]:
            raise BadQuestion(f"{place}: {resource} is missing")
    node["metadata"]["name"] = name
    try:
        Node.parse(node)
    except (ValueError, TypeError, LookupError) as wrong:
        raise BadQuestion(f"{place}: {wrong}") from None
    return NodeShape(name, node, price, like)


def _price(text: str, place: str) -> Decimal | None:
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal("NaN")
    if not price.is_finite() or price < 0:
        raise BadQuestion(f"{place}: price: {text!r} is not a number from 0")
    return price


def _check_quantity(text: str, place: str) -> None:
    try:
        amount = parse_quantity(text)
    except ValueError as wrong:
        raise BadQuestion(f"{place}: {wrong}") from None
    if amount < 0:
        raise BadQuestion(f"{place}: {text} is negative")


def _new() -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "", "labels": {}},
        "spec": {},
        "status": {"allocatable": {"pods": USUAL_PODS}},
    }


def _copy(node: Manifest) -> Any:
    """Return an empty node of the same shape: with its labels and taints, and not cordoned."""
    status, spec = node.get("status") or {}, node.get("spec") or {}
    taints = [
        taint for taint in spec.get("taints") or () if not taint["key"].startswith("node.kubernetes.io/")
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "", "labels": {**(node["metadata"].get("labels") or {})}},
        "spec": {"taints": taints} if taints else {},
        "status": {"allocatable": {**(status.get("allocatable") or status.get("capacity") or {})}},
    }
