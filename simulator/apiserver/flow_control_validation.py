"""Validation of FlowSchemas and PriorityLevelConfigurations.

Upstream: pkg/apis/flowcontrol/validation/validation.go, v1.34. The mandatory objects of an API server are not
held to their fixed specs, as a sandbox has none.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

FLOW_SCHEMAS: Final = "flowschemas.flowcontrol.apiserver.k8s.io"
PRIORITY_LEVELS: Final = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
_EXEMPT: Final = "exempt"
_MAX_PRECEDENCE: Final = 10_000
_MAX_QUEUES: Final = 10_000_000
_MAX_HASH_BITS: Final = 60
_DISTINGUISHERS: Final = ("ByNamespace", "ByUser")
_SUBJECTS: Final = ("Group", "ServiceAccount", "User")
_FIELD_OF_SUBJECT: Final = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_VERBS: Final = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"),
)
_LEVELS: Final = ("Exempt", "Limited")
_RESPONSES: Final = ("Queue", "Reject")
_NAMESPACE: Final = "each member of this list must be '*' or a DNS-1123 label; "
_PERCENT: Final = "must be between 0 and 100, inclusive"


def _flow_schema(manifest: Manifest) -> Iterator[Cause]:
    spec, name = manifest.get("spec") or {}, manifest["metadata"].get("name", "")
    precedence, path = spec.get("matchingPrecedence", 0), "spec.matchingPrecedence"
    if precedence <= 0:
        yield invalid(path, precedence, "must be a positive value")
    if precedence > _MAX_PRECEDENCE:
        yield invalid(path, precedence, f"must not be greater than {_MAX_PRECEDENCE}")
    if precedence == 1 and name != _EXEMPT:
        yield invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _DISTINGUISHERS:
        shown = {"Type": method.get("type", "")}
        yield not_supported("spec.distinguisherMethod.type", shown, _DISTINGUISHERS, whole=True)
    level, path = (spec.get("priorityLevelConfiguration") or {}).get("name", ""), "priorityLevelConfiguration"
    if level:
        yield from check_name(names.dns_subdomain, level, f"spec.{path}.name")
    else:
        yield required(f"spec.{path}.name", "must reference a priority level")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, f"spec.rules[{index}]")
    yield from validate_flow_status(manifest, manifest)


def _rule(rule: Manifest, path: str) -> Iterator[Cause]:
    subjects = rule.get("subjects") or ()
    for index, subject in enumerate(subjects):
        yield from _subject(subject, f"{path}.subjects[{index}]")
    if not subjects:
        yield required(f"{path}.subjects", "subjects must contain at least one value")
    resources, others = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not resources and not others:
        yield required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")
    for index, each in enumerate(resources):
        yield from _resource_rule(each, f"{path}.resourceRules[{index}]")
    for index, each in enumerate(others):
        yield from _other_rule(each, f"{path}.nonResourceRules[{index}]")


def _subject(subject: Manifest, path: str) -> Iterator[Cause]:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind, _SUBJECTS)
        return
    own = _FIELD_OF_SUBJECT[kind]
    if subject.get(own) is None:
        yield required(f"{path}.{own}", f"{own} is required when subject kind is '{kind}'")
    elif kind == "ServiceAccount":
        yield from _service_account(subject[own], f"{path}.{own}")
    elif not subject[own].get("name"):
        yield required(f"{path}.{own}.name")
    for other, field in _FIELD_OF_SUBJECT.items():
        if field != own and subject.get(field) is not None:
            yield forbidden(f"{path}.{field}", f"{field} is forbidden when subject kind is not '{other}'")


def _service_account(account: Manifest, path: str) -> Iterator[Cause]:
    name, namespace = account.get("name", ""), account.get("namespace", "")
    if not name:
        yield required(f"{path}.name")
    elif name != "*":
        yield from check_name(names.dns_subdomain, name, f"{path}.name")
    if namespace:
        yield from check_name(names.dns_label, namespace, f"{path}.namespace")
    else:
        yield required(f"{path}.namespace", "must specify namespace for service account")


def _verbs(verbs: list[str], path: str) -> Iterator[Cause]:
    if not verbs:
        yield required(path, "verbs must contain at least one value")
    elif "*" in verbs:
        yield from _alone(verbs, "verbs", path)
    elif not {*verbs} <= {*_VERBS}:
        yield not_supported(path, verbs, _VERBS)


def _alone(items: Sequence[str], shown: str, path: str) -> Iterator[Cause]:
    """Yield a fault if ``*``, which means all values, has others beside it."""
    if "*" in items and len(items) > 1:
        yield invalid(path, items, f"if '*' is present, must not specify other {shown}")


def _resource_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    yield from _verbs(rule.get("verbs") or [], f"{path}.verbs")
    for field, one, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        given = rule.get(field) or []
        if not given:
            yield required(f"{path}.{field}", f"resource rules must supply at least one {one}")
        yield from _alone(given, many, f"{path}.{field}")
    namespaces, at = rule.get("namespaces") or [], f"{path}.namespaces"
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        yield required(at, detail)
    elif "*" in namespaces:
        yield from _alone(namespaces, "namespaces", at)
    else:
        for index, namespace in enumerate(namespaces):
            for problem in names.dns_label(namespace):
                yield invalid(f"{at}[{index}]", namespace, _NAMESPACE + problem)


def _other_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    yield from _verbs(rule.get("verbs") or [], f"{path}.verbs")
    urls, at = rule.get("nonResourceURLs") or [], f"{path}.nonResourceURLs"
    if not urls:
        yield required(at, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        yield from _alone(urls, "non-resource URLs", at)
    else:
        for index, url in enumerate(urls):
            problem = _url_problem(url)
            if problem:
                yield invalid(f"{at}[{index}]", url, problem)


def _url_problem(url: str) -> str:
    """Return the fault that ValidateNonResourceURLPath reports."""
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _priority_level(manifest: Manifest) -> Iterator[Cause]:
    spec, name = manifest.get("spec") or {}, manifest["metadata"].get("name", "")
    kind, exempt, limited = spec.get("type", ""), spec.get("exempt"), spec.get("limited")
    if (name == _EXEMPT) != (kind == "Exempt"):
        yield invalid("spec.type", kind, "type must be 'Exempt' if and only if name is 'exempt'")
    if kind == "Exempt":
        if limited is not None:
            yield forbidden("spec.limited", "must be nil if the type is not Limited")
        if exempt is not None:
            yield from _shares(exempt, "spec.exempt")
            yield from _lendable(exempt, "spec.exempt")
    elif kind == "Limited":
        if exempt is not None:
            yield forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            yield required("spec.limited", "must not be empty when type is Limited")
        else:
            yield from _limited(limited, "spec.limited")
    else:
        yield not_supported("spec.type", kind, _LEVELS)
    yield from validate_flow_status(manifest, manifest)


def _shares(level: Manifest, path: str) -> Iterator[Cause]:
    if (level.get("nominalConcurrencyShares") or 0) < 0:
        shares = level["nominalConcurrencyShares"]
        yield invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")


def _lendable(level: Manifest, path: str) -> Iterator[Cause]:
    percent: Any = level.get("lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        yield invalid(f"{path}.lendablePercent", percent, _PERCENT)


def _limited(limited: Manifest, path: str) -> Iterator[Cause]:
    yield from _shares(limited, path)
    yield from _response(limited.get("limitResponse") or {}, f"{path}.limitResponse")
    yield from _lendable(limited, path)
    borrowing: Any = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        detail = "if specified, must be a non-negative integer"
        yield invalid(f"{path}.borrowingLimitPercent", borrowing, detail)


def _response(response: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateLimitResponse reports, which names the wrong type."""
    kind, queuing = response.get("type", ""), response.get("queuing")
    if kind not in _RESPONSES:
        yield not_supported(f"{path}.type", kind, _RESPONSES)
    elif kind == "Reject" and queuing is not None:
        yield forbidden(f"{path}.queuing", "must be nil if limited.limitResponse.type is not Limited")
    elif kind == "Queue" and queuing is None:
        yield required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited")
    elif queuing is not None:
        yield from _queuing(queuing, f"{path}.queuing")


def _queuing(queuing: Manifest, path: str) -> Iterator[Cause]:
    length, queues, hand = (queuing.get(field) or 0 for field in ("queueLengthLimit", "queues", "handSize"))
    if length <= 0:
        yield invalid(f"{path}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        yield invalid(f"{path}.queues", queues, "must be positive")
    elif queues > _MAX_QUEUES:
        yield invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}")
    if hand <= 0:
        yield invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        yield invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * hand) > _MAX_HASH_BITS:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than "
            f"{_MAX_HASH_BITS}"
        )
        yield invalid(f"{path}.handSize", hand, detail)


def validate_flow_status(new: Manifest, _old: Manifest) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        kind, at = condition.get("type", ""), f"status.conditions[{index}].type"
        if kind in seen:
            yield duplicate(at, kind)
        seen.add(kind)
        if not kind:
            yield required(at, "must not be empty")


FLOW_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    FLOW_SCHEMAS: _flow_schema,
    PRIORITY_LEVELS: _priority_level,
}
