"""Notations of the fields about devices: CEL selectors, requests and constraints of claims."""

import re
from collections.abc import Callable
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from schedviz.web.forms.notation import Notation, lines
from simulator.api import Manifest

REQUEST: Final = re.compile(
    r"(?P<name>[^:\s]+)\s*:\s*(?P<amount>all|\d{1,9})\s*x\s+(?P<class>\S+)(?P<admin>\s+adminAccess)?"
    r"(?:\s+where\s+(?P<where>.+))?"
)
WHERE: Final = re.compile(r"\swhere\s")
ATTRIBUTES: Final = ("matchAttribute", "distinctAttribute")


def selectors(text: str) -> list[Manifest]:
    """Parse selectors, a CEL expression in each line."""
    return [selector(line) for line in lines(text)]


def selector(expression: str) -> Manifest:
    return {"cel": {"expression": expression}}


def show_selectors(found: list[Manifest]) -> str:
    return "\n".join(map(_expression, found))


def _expression(found: Manifest) -> str:
    expression: str = found["cel"]["expression"]
    if expression != expression.strip() or not expression or "\n" in expression:
        raise ValueError(expression)
    return expression


def requests(text: str) -> list[Manifest]:
    """Parse requests, one in each line: "gpus: 2 x gpu where CEL". Lines with "gpus/large" and "gpus/any"
    are, in this order, the subrequests of the request gpus (firstAvailable). Raises ValidationError."""
    found: dict[str, Manifest] = {}
    for line in lines(text):
        match = REQUEST.fullmatch(line)
        if not match:
            message = gettext("“%(line)s” does not have the form NAME: NUMBER x CLASS where CEL.")
            raise ValidationError(message % {"line": line})
        name, slash, subrequest = match["name"].partition("/")
        known, described = found.get(name), _request(match)
        if known is not None and not (slash and "firstAvailable" in known):
            raise ValidationError(gettext("There are two requests with the name %(name)s.") % {"name": name})
        if slash:
            entry = found.setdefault(name, {"name": name, "firstAvailable": []})
            entry["firstAvailable"].append({"name": subrequest, **described})
        else:
            found[name] = {"name": name, "exactly": described}
    return [*found.values()]


def _request(match: re.Match[str]) -> Manifest:
    every = match["amount"] == "all"
    amount: Manifest = {"allocationMode": "All"} if every else {"count": int(match["amount"])}
    admin = {"adminAccess": True} if match["admin"] else {}
    where = WHERE.split(match["where"]) if match["where"] else []
    chosen = {"selectors": [selector(each.strip()) for each in where]} if where else {}
    return {"deviceClassName": match["class"], **amount, **admin, **chosen}


def show_requests(found: list[Manifest]) -> str:
    shown = []
    for request in found:
        if "exactly" in request:
            shown.append(f"{request['name']}: {_show_request(request['exactly'])}")
        shown += [
            f"{request['name']}/{each['name']}: {_show_request(each)}"
            for each in request.get("firstAvailable") or ()
        ]
    return "\n".join(shown)


def _show_request(request: Manifest) -> str:
    every = request.get("allocationMode") == "All"
    admin = " adminAccess" if request.get("adminAccess") else ""
    where = "".join(f" where {_expression(each)}" for each in request.get("selectors") or ())
    return f"{'all' if every else request.get('count', 1)} x {request['deviceClassName']}{admin}{where}"


def complete_requests(found: list[Manifest]) -> list[Manifest]:
    """Return the requests with the defaults of the API server left out or filled in, as :func:`requests`
    writes them."""
    return [
        {
            key: COMPLETE_BY_FIELD[key](value) if key in COMPLETE_BY_FIELD else value
            for key, value in request.items()
        }
        for request in found
    ]


def _complete(request: Manifest) -> Manifest:
    mode = request.get("allocationMode", "ExactCount")
    rest = {key: value for key, value in request.items() if key not in ("allocationMode", "count")}
    if rest.get("adminAccess") is False:
        del rest["adminAccess"]
    if mode == "ExactCount":
        return {**rest, "count": request.get("count", 1)}
    return {**rest, "allocationMode": mode, **({"count": request["count"]} if "count" in request else {})}


COMPLETE_BY_FIELD: Final[dict[str, Callable[[Any], Any]]] = {
    "exactly": _complete,
    "firstAvailable": lambda found: [_complete(each) for each in found],
}


def constraints(text: str) -> list[Manifest]:
    """Parse constraints, one in each line: "matchAttribute gpu.example.com/numa: gpus, nic"; without names, a
    constraint is of all requests. Raises ValidationError."""
    found = []
    for line in lines(text):
        head, _, names = line.partition(":")
        kind, _, attribute = head.strip().partition(" ")
        if kind not in ATTRIBUTES or not attribute.strip() or " " in attribute.strip():
            message = gettext(
                "“%(line)s” does not have the form matchAttribute DOMAIN/NAME: REQUEST, REQUEST."
            )
            raise ValidationError(message % {"line": line})
        named = [each.strip() for each in names.split(",") if each.strip()]
        found.append({**({"requests": named} if named else {}), kind: attribute.strip()})
    return found


def show_constraints(found: list[Manifest]) -> str:
    return "\n".join(map(_show_constraint, found))


def _show_constraint(constraint: Manifest) -> str:
    [kind] = [each for each in ATTRIBUTES if each in constraint]
    names = ", ".join(constraint.get("requests") or ())
    return f"{kind} {constraint[kind]}" + (f": {names}" if names else "")


SELECTORS: Final = Notation(selectors, show_selectors)
REQUESTS: Final = Notation(requests, show_requests, complete_requests)
CONSTRAINTS: Final = Notation(constraints, show_constraints)


def claims(text: str) -> list[dict[str, Any]]:
    """Parse the claims of a pod, one in each line: "gpus=template/two-large for main"; "claim/model" has the
    name of its object, and is for all containers. Raises ValidationError."""
    found = []
    for line in lines(text):
        reference, _, containers = line.partition(" for ")
        name, equals, source = (each.strip() for each in reference.rpartition("="))
        kind, _, target = source.partition("/")
        if kind not in SOURCES or not target or (equals and not name):
            message = gettext("“%(line)s” does not have the form claim/NAME or template/NAME.")
            raise ValidationError(message % {"line": line})
        named = [each.strip() for each in containers.split(",") if each.strip()]
        entry: dict[str, Any] = {"name": name or target, SOURCES[kind]: target}
        found.append({**entry, "containers": named} if named else entry)
    return found


def show_claims(found: list[dict[str, Any]]) -> str:
    return "\n".join(map(_show_claim, found))


def _show_claim(entry: dict[str, Any]) -> str:
    [(kind, target)] = [(kind, entry[field]) for kind, field in SOURCES.items() if field in entry]
    name = "" if entry["name"] == target else f"{entry['name']}="
    containers = ", ".join(entry.get("containers") or ())
    return f"{name}{kind}/{target}" + (f" for {containers}" if containers else "")


SOURCES: Final = {"claim": "resourceClaimName", "template": "resourceClaimTemplateName"}
CLAIMS: Final = Notation(claims, show_claims)
