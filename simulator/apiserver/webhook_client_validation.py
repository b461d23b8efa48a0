"""Validation of how webhooks are reached, and of the versions of reviews that they take.

Upstream: apiserver/pkg/util/webhook/validation.go, and validateAdmissionReviewVersions in
pkg/apis/admissionregistration/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.status import Cause, invalid, required

_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_FORM: Final = "; desired format: https://host[/path]"


def validate_client(client: Manifest, path: str) -> Iterator[Cause]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(url, f"{path}.url")
    elif service is not None:
        yield from _service(service, f"{path}.service")


def _url(url: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateWebhookURL reports."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        yield required(path, f"url must be a valid URL: {error}{_FORM}")
        return
    user, _, host = parts.netloc.rpartition("@")
    if parts.scheme != "https":
        yield invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not host:
        yield invalid(path, host, f"host must be provided{_FORM}")
    if user:
        yield invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service(service: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateWebhookService reports."""
    for field in ("name", "namespace"):
        if not service.get(field):
            yield required(f"{path}.{field}", f"service {field} is required")
    port = service.get("port") or 0
    if not 1 <= port <= names.MAX_PORT:
        yield invalid(f"{path}.port", port, f"port is not valid: {names.PORT_RANGE}")
    url_path = service.get("path") or ""
    if url_path in ("", "/"):
        return
    if url_path == "//":
        yield invalid(f"{path}.path", url_path, "segment[0] may not be empty")
        return
    if not url_path.startswith("/"):
        yield invalid(f"{path}.path", url_path, "must start with a '/'")
    for index, step in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not step:
            yield invalid(f"{path}.path", url_path, f"segment[{index}] may not be empty")
            continue
        for problem in names.dns_subdomain(step):
            yield invalid(f"{path}.path", url_path, f"segment[{index}]: {problem}")


def validate_review_versions(versions: list[str], path: str, *, missing: str = "") -> Iterator[Cause]:
    """Yield the faults of the review versions. ``missing``: the text of the fault if there are none."""
    if not versions:
        yield required(path, missing)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        for problem in names.service_name(version):
            yield invalid(f"{path}[{index}]", version, problem)
    if not set(versions) & set(_REVIEW_VERSIONS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")
