"""The deprecation of versions of custom resources.

Upstream: defaultDeprecationWarning in apiextensions-apiserver/pkg/apiserver/customresource_handler.go, and
CompareKubeAwareVersionStrings in apimachinery/pkg/version/helpers.go, v1.34.
"""

import re

from simulator.api import Manifest


def version_order(version: str) -> tuple[int, int, int, str]:
    """Sort versions: stable ones first, then beta, then alpha, of each the newest first; then other names."""
    parts = re.fullmatch(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", version)
    if parts is None:
        return 3, 0, 0, version
    major, stage, minor = parts.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version


def deprecation_warning(spec: Manifest, version: Manifest) -> str:
    """Return the warning that each request to a version of a definition gets; "" if it is not deprecated."""
    if not version.get("deprecated"):
        return ""
    given = version.get("deprecationWarning")
    if given is not None:
        return str(given)
    group, name, kind = spec["group"], version["name"], spec["names"]["kind"]
    newer = [
        other["name"]
        for other in spec["versions"]
        if other.get("served", True)
        and not other.get("deprecated")
        and version_order(other["name"]) < version_order(name)
    ]
    instead = f"; use {group}/{min(newer, key=version_order)} {kind}" if newer else ""
    return f"{group}/{name} {kind} is deprecated{instead}"
