"""Notations for parts of a manifest in one text field: labels, taints, selectors, affinity. They are those of
kubectl's arguments, if kubectl has one.

A notation parses text into a value (ValidationError for invalid text) and formats a value as text. A value
whose text does not give the same value again is shown only in the YAML.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from schedviz.web.manifests import terms
from schedviz.web.manifests.terms import PREFERRED, REQUIRED
from simulator.api import Manifest
from simulator.apiserver.label_selectors import NO_PATH, parse_label_selector
from simulator.apiserver.status import BadRequest
from simulator.objects.labels import Requirement

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
POLICIES: Final = ("DoNotSchedule", "ScheduleAnyway")
SECONDS: Final = re.compile(r"(.+?)\sfor\s+(\d{1,9})s")


class Notation(NamedTuple):
    read: Callable[[str], Any]
    """The function that parses text that is not empty."""
    show: Callable[[Any], str]
    """The function that formats a value. Raises KeyError, TypeError, ValueError or AttributeError for a value
    that the notation cannot express."""
    complete: Callable[[Any], Any] = lambda value: value
    """The function that adds the defaults of optional fields to a value, for the comparison."""


def shown(notation: Notation, value: Any) -> str | None:
    """Return the text of a value, "" for None; None if the notation cannot express it."""
    if value is None:
        return ""
    try:
        text = notation.show(value)
        return text if text and same(notation.read(text), notation.complete(value)) else None
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError):
        return None


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, without regard to the order of lists; ``2`` equals ``"2"``, as in
    quantities."""
    return bool(_canonical(one) == _canonical(other))


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return sorted((_canonical(each) for each in value), key=repr)
    return value if isinstance(value, bool) or value is None else str(value)


def items(text: str) -> list[str]:
    return [item.strip() for item in re.split(r"[,\n]", text) if item.strip()]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def pairs(text: str) -> dict[str, str]:
    """Parse pairs: "a=b, c=d" -> {"a": "b", "c": "d"}. Raises ValidationError."""
    found = {}
    for item in items(text):
        key, equals, value = item.partition("=")
        if not equals:
            raise ValidationError(gettext("“%(item)s” does not have the form key=value.") % {"item": item})
        found[key.strip()] = value.strip()
    return found


def taints(text: str) -> list[dict[str, str]]:
    """Parse taints in the notation of kubectl taint: "key=value:NoSchedule, key:NoExecute". Raises
    ValidationError."""
    found = []
    for item in items(text):
        rest, colon, effect = item.rpartition(":")
        if not colon or effect not in EFFECTS:
            message = gettext(
                "“%(item)s” does not have the form key=value:Effect. The effects are %(effects)s."
            )
            raise ValidationError(message % {"item": item, "effects": ", ".join(EFFECTS)})
        key, equals, value = rest.partition("=")
        found.append({"key": key, **({"value": value} if equals else {}), "effect": effect})
    return found


def _taint(taint: Manifest) -> str:
    return f"{taint['key']}{_equals(taint)}:{taint['effect']}"


def _equals(match: Manifest) -> str:
    return f"={match['value']}" if "value" in match else ""


def tolerations(text: str) -> list[Manifest]:
    """Parse tolerations: "key=value:Effect", "key:Effect", "key=value" or "key": the shorter ones tolerate
    any value, any effect. "for 300s" at the end is tolerationSeconds."""
    found = []
    for item in items(text):
        timed = SECONDS.fullmatch(item)
        match, seconds = (timed[1].rstrip(), {"tolerationSeconds": int(timed[2])}) if timed else (item, {})
        rest, colon, effect = match.rpartition(":")
        key, equals, value = (rest if colon else match).partition("=")
        made: Manifest = {"key": key, "operator": "Equal" if equals else "Exists"}
        found.append(
            made | ({"value": value} if equals else {}) | ({"effect": effect} if colon else {}) | seconds
        )
    return found


def _toleration(toleration: Manifest) -> str:
    effect = f":{toleration['effect']}" if "effect" in toleration else ""
    seconds = f" for {toleration['tolerationSeconds']}s" if "tolerationSeconds" in toleration else ""
    return f"{toleration['key']}{_equals(toleration)}{effect}{seconds}"


def requirements(text: str) -> Sequence[Requirement]:
    """Parse a label selector in the notation of kubectl's ``-l``. Raises ValidationError."""
    try:
        found = parse_label_selector(text).requirements
    except BadRequest as error:
        raise ValidationError(error.message.replace(f"{NO_PATH}: ", "")) from None
    if not found:
        raise ValidationError(gettext("Write a selector: key=value, key in (a, b), !key."))
    return found


def expressions(found: Sequence[Requirement]) -> list[Manifest]:
    return [
        {"key": each.key, "operator": each.operator, **({"values": [*each.values]} if each.values else {})}
        for each in found
    ]


def label_selector(text: str) -> Manifest:
    """Parse a metav1.LabelSelector: equalities are in matchLabels, the other requirements in
    matchExpressions."""
    found = requirements(text)
    equal = {each.key: each.values[0] for each in found if each.operator == "In" and len(each.values) == 1}
    rest = expressions([each for each in found if equal.get(each.key) is None])
    return ({"matchLabels": equal} if equal else {}) | ({"matchExpressions": rest} if rest else {})


def node_affinity(text: str) -> Manifest:
    """Parse a nodeAffinity, one term in each line: "disk=ssd, zone in (a, b)" is required (a node must match
    one of them); with a weight, "10: disk=ssd", it is preferred."""
    required: list[Manifest] = []
    preferred: list[Manifest] = []
    for line in lines(text):
        weight, selector = weighted(line)
        term = {"matchExpressions": expressions(requirements(selector))}
        if weight is None:
            required.append(term)
        else:
            preferred.append({"weight": weight, "preference": term})
    return ({REQUIRED: {"nodeSelectorTerms": required}} if required else {}) | (
        {PREFERRED: preferred} if preferred else {}
    )


def _node_affinity(affinity: Manifest) -> str:
    required = (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    preferred = affinity.get(PREFERRED) or []
    return "\n".join(
        [terms.node_term(term) for term in required]
        + [f"{each['weight']}: {terms.node_term(each['preference'])}" for each in preferred]
    )


def pod_affinity(text: str) -> Manifest:
    """Parse a podAffinity or podAntiAffinity, one term in each line: "app=web @ topology.kubernetes.io/zone"
    is required; with a weight, "10: app=web @ ...", it is preferred."""
    required: list[Manifest] = []
    preferred: list[Manifest] = []
    for line in lines(text):
        weight, rest = weighted(line)
        term = topology(rest)
        if weight is None:
            required.append(term)
        else:
            preferred.append({"weight": weight, "podAffinityTerm": term})
    return ({REQUIRED: required} if required else {}) | ({PREFERRED: preferred} if preferred else {})


def _pod_affinity(affinity: Manifest) -> str:
    return "\n".join(
        [terms.pod_term(term) for term in affinity.get(REQUIRED) or []]
        + [
            f"{each['weight']}: {terms.pod_term(each['podAffinityTerm'])}"
            for each in affinity.get(PREFERRED) or []
        ]
    )


def topology_spread(text: str) -> list[Manifest]:
    """Parse constraints, one in each line: "1 DoNotSchedule: app=web @ topology.kubernetes.io/zone"; the
    number is maxSkew."""
    found = []
    for line in lines(text):
        head, colon, rest = line.partition(":")
        skew, _, policy = head.strip().partition(" ")
        if not colon or not skew.isdecimal() or policy.strip() not in POLICIES:
            message = gettext("“%(line)s” must begin with a maxSkew and %(policies)s, then a colon.")
            raise ValidationError(message % {"line": line, "policies": " / ".join(POLICIES)})
        term = topology(rest)
        found.append(
            {
                "maxSkew": int(skew),
                "topologyKey": term["topologyKey"],
                "whenUnsatisfiable": policy.strip(),
                "labelSelector": term["labelSelector"],
            }
        )
    return found


def _topology_spread(constraints: list[Manifest]) -> str:
    return "\n".join(map(terms.spread_constraint, constraints))


def weighted(line: str) -> tuple[int | None, str]:
    """Split a line into weight and term: "10: app=web" -> (10, "app=web"); "app=web" -> (None, "app=web")."""
    weight, colon, rest = line.partition(":")
    if not colon:
        return None, line
    if not weight.strip().isdecimal():
        raise ValidationError(gettext("“%(weight)s” is not a weight.") % {"weight": weight.strip()})
    return int(weight), rest


def topology(text: str) -> Manifest:
    """Parse a term: "app=web @ kubernetes.io/hostname" -> a labelSelector and a topologyKey."""
    selector, at, key = text.partition("@")
    if not at or not key.strip():
        raise ValidationError(
            gettext("“%(text)s” does not have the form selector @ topologyKey.") % {"text": text.strip()}
        )
    return {"labelSelector": label_selector(selector), "topologyKey": key.strip()}


def int_or_string(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _names(gates: list[Manifest]) -> str:
    return ", ".join(gate["name"] for gate in gates)


def _joined(show: Callable[[Manifest], str]) -> Callable[[list[Manifest]], str]:
    return lambda found: ", ".join(show(each) for each in found)


TEXT: Final = Notation(str, str)
NUMBER: Final = Notation(int, str)
FLAG: Final = Notation(lambda text: text in ("on", "True", "true"), lambda value: "on" if value else "")
INT_OR_STRING: Final = Notation(int_or_string, str)
PAIRS: Final = Notation(pairs, lambda found: ", ".join(terms.pairs(found)))
TAINTS: Final = Notation(taints, _joined(_taint))
TOLERATIONS: Final = Notation(
    tolerations, _joined(_toleration), lambda found: [{"operator": "Equal"} | each for each in found]
)
GATES: Final = Notation(lambda text: [{"name": name} for name in items(text)], _names)
LABEL_SELECTOR: Final = Notation(label_selector, terms.label_selector)
NODE_AFFINITY: Final = Notation(node_affinity, _node_affinity)
POD_AFFINITY: Final = Notation(pod_affinity, _pod_affinity)
TOPOLOGY_SPREAD: Final = Notation(
    topology_spread, lambda found: "\n".join(map(terms.spread_constraint, found))
)
