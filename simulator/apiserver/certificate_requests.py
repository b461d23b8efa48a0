"""CertificateSigningRequests: the requester, what each path may change, and validation.

Upstream: pkg/registry/certificates/certificates/strategy.go and
pkg/apis/certificates/validation/validation.go, v1.34. Of a request and of a certificate only the PEM blocks
and the outermost DER are looked at; signatures are not checked.
"""

import base64
import binascii
import copy
import re
from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import CONDITION_STATUSES
from simulator.apiserver.enumerations import KEY_USAGES
from simulator.apiserver.field_checks import NameRule
from simulator.apiserver.policies.request import User
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simulator.kernel.go_text import quote

CERTIFICATE_REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
APPROVAL: Final = "approval"
_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_SHORTEST_SECONDS: Final = 600
_LASTING: Final = ("Approved", "Denied", "Failed")
"""The conditions that stay once they are true."""
_OF_APPROVAL: Final = ("Approved", "Denied")
_EXCLUSIVE: Final = "Approved and Denied conditions are mutually exclusive"
_PEM: Final = re.compile(
    r"-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n((?:[^-]|-(?!----))*)-----END \1-----", re.ASCII
)
_SEQUENCE: Final = 0x30


def set_requester(manifest: Manifest, user: User) -> None:
    """Set the fields of the spec about the requester (PrepareForCreate)."""
    spec = manifest.setdefault("spec", {})
    for field in ("uid", "extra"):
        spec.pop(field, None)
    spec["username"], spec["groups"] = user.name, [*user.groups]


def prepare_approval(old: Manifest, new: Manifest) -> Manifest:
    """Return the stored request with the conditions of the new one, which are all that the subresource
    ``approval`` changes."""
    conditions = (new.get("status") or {}).get("conditions")
    status = {**(old.get("status") or {}), "conditions": conditions}
    kept = {field: value for field, value in status.items() if value is not None}
    return {**copy.deepcopy(old), "metadata": new["metadata"], "status": kept}


def prepare_status(old: Manifest, status: Manifest) -> Manifest:
    """Return the status as its subresource may change it: whether the request is approved stays."""
    kept = [each for each in _conditions(old) if each.get("type") in _OF_APPROVAL]
    given = [each for each in status.get("conditions") or () if each.get("type") not in _OF_APPROVAL]
    conditions = [*kept, *given]
    others = {field: value for field, value in status.items() if field != "conditions"}
    return {**others, "conditions": conditions} if conditions else others


def with_condition_times(new: Manifest, old: Manifest, now: str) -> Manifest:
    """Return the conditions with the times that they lack (populateConditionTimestamps)."""
    known = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime") for each in _conditions(old)
    }
    conditions = []
    for condition in _conditions(new):
        since = known.get((condition.get("type"), condition.get("status"))) or now
        times = {"lastUpdateTime": now, "lastTransitionTime": since}
        stated = {field: value for field, value in condition.items() if value is not None}
        conditions.append({**times, **stated})
    return {**new, "status": {**new["status"], "conditions": conditions}} if conditions else new


def _conditions(manifest: Manifest) -> Sequence[Manifest]:
    found: Sequence[Manifest] = (manifest.get("status") or {}).get("conditions") or ()
    return found


def validate_certificate_request(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    request, usages = spec.get("request", ""), spec.get("usages") or []
    problem = _request_problem(request)
    if problem:
        yield invalid("spec.request", request, problem)
    if not usages:
        yield required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in KEY_USAGES:
            yield not_supported(f"spec.usages[{index}]", usage, KEY_USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)
    signer, path = spec.get("signerName", ""), "spec.signerName"
    if signer == _LEGACY_SIGNER:
        yield invalid(path, signer, "the legacy signerName is not allowed via this API version")
    else:
        yield from _signer_name(signer, path)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", seconds, detail)
    yield from _condition_faults(_conditions(manifest), "status.conditions")
    problem = _certificate_problem((manifest.get("status") or {}).get("certificate", ""))
    if problem:
        yield invalid("status.certificate", "<certificate data>", problem)


def _signer_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateSignerName in pkg/apis/core/validation/validation.go reports."""
    if not name:
        yield required(path)
        return
    if name.count("/") != 1:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(path, name, detail)
        return
    domain, _, rest = name.partition("/")
    if len(domain) > names.SUBDOMAIN_LENGTH:
        yield too_long(path, names.SUBDOMAIN_LENGTH)
    yield from _labels(names.dns_label, domain, path)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _labels(names.dns_subdomain, rest, path)
    longest = 2 * names.SUBDOMAIN_LENGTH + names.LABEL_LENGTH + 2
    if len(name) > longest:
        yield too_long(path, longest)


def _labels(rule: NameRule, text: str, path: str) -> Iterator[Cause]:
    """Yield the problems of the first label that has any."""
    for label in text.split("."):
        problems = rule(label)
        if problems:
            for problem in problems:
                yield invalid(path, text, f"validating label {quote(label)}: {problem}")
            return


def _condition_faults(conditions: Sequence[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind, status, at = condition.get("type", ""), condition.get("status", ""), f"{path}[{index}]"
        if not kind:
            yield required(f"{at}.type")
        if not status:
            yield required(f"{at}.status")
        elif status not in (("True",) if kind in _LASTING else CONDITION_STATUSES):
            yield not_supported(f"{at}.status", status, ("True",))
        if kind in _OF_APPROVAL and seen & {*_OF_APPROVAL} - {kind}:
            yield invalid(f"{at}.type", kind, _EXCLUSIVE)
        if kind in seen:
            yield duplicate(f"{at}.type", kind)
        seen.add(kind)


def validate_certificate_request_update(new: Manifest, old: Manifest, subresource: str) -> Iterator[Cause]:
    """Yield the faults of changes to fields that may not change; of a new status also its other faults."""
    if subresource == "status":
        yield from validate_certificate_request(new)
    for kind in _LASTING:
        after, before = (
            sum(each.get("type") == kind for each in _conditions(manifest)) for manifest in (new, old)
        )
        if after < before:
            detail = f"updates may not remove a condition of type {quote(kind)}"
            yield forbidden("status.conditions", detail)
    certificate, known = ((each.get("status") or {}).get("certificate", "") for each in (new, old))
    if certificate != known:
        if subresource != "status":
            yield forbidden("status.certificate", "updates may not set certificate content")
        elif known:
            detail = "updates may not modify existing certificate content"
            yield forbidden("status.certificate", detail)


def _request_problem(encoded: str) -> str:
    blocks = _blocks(encoded)
    if not blocks or blocks[0][0] != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    return _der_problem(blocks[0][1])


def _certificate_problem(encoded: str) -> str:
    if not encoded:
        return ""
    blocks = _blocks(encoded)
    for kind, content in blocks:
        if kind != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(kind)}"
        if ":" in content:
            return "no PEM block headers are permitted"
        problem = _der_problem(content)
        if problem:
            return problem
    return "" if blocks else "must contain one or more CERTIFICATE PEM blocks"


def _blocks(encoded: str) -> list[tuple[str, str]]:
    """Return the PEM blocks in a field of bytes: their types and contents."""
    try:
        text = base64.b64decode(encoded, validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return []
    return [(found[1], found[2]) for found in _PEM.finditer(text)]


def _der_problem(content: str) -> str:
    """Whether the content is one sequence in DER."""
    try:
        data = base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) < len(b"\x30\x00"):
        return "asn1: syntax error: sequence truncated"
    if data[0] != _SEQUENCE:
        return "asn1: structure error: tags don't match"
    length, start = data[1], 2
    if length & 0x80:
        count = length & 0x7F
        length, start = int.from_bytes(data[2 : 2 + count], "big"), 2 + count
    if len(data) - start < length:
        return "asn1: syntax error: data truncated"
    return "asn1: syntax error: trailing data" if len(data) - start > length else ""
