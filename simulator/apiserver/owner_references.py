"""Drops repeated owner references, with a warning.

Upstream: dedupOwnerReferencesAndAddWarning in apiserver/pkg/endpoints/handlers/rest.go, v1.34.
"""

from typing import Any

import msgspec

from simulator.api import Manifest


def without_repeated_owners(manifest: Manifest, *, is_patched: bool = False) -> tuple[Manifest, list[str]]:
    """Return the object without owner references that are equal to an earlier one, and the warning about
    them. ``is_patched``: the object is the result of a patch, which is looked at later than other writes."""
    given = manifest.get("metadata")
    metadata: dict[str, Any] = given if isinstance(given, dict) else {}
    kept: dict[bytes, Any] = {}
    repeated = []
    for owner in metadata.get("ownerReferences") or []:
        text = msgspec.json.encode(owner, order="sorted")
        if text in kept:
            repeated.append(owner.get("uid") or "")
        else:
            kept[text] = owner
    if not repeated:
        return manifest, []
    after = " after mutating admission happens" if is_patched else ""
    warning = (
        f".metadata.ownerReferences contains duplicate entries{after}; API server dedups owner references in "
        "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) "
        f"observed: {', '.join(repeated)}"
    )
    return {**manifest, "metadata": {**metadata, "ownerReferences": [*kept.values()]}}, [warning]
