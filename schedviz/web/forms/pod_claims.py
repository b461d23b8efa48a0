"""The field of a pod's claims: its entries in spec.resourceClaims, and the containers that use them."""

from collections.abc import Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from schedviz.store.past import Readable
from schedviz.web.forms.base import FieldPlace
from schedviz.web.forms.device_fields import CLAIMS
from schedviz.web.manifests.paths import Path, get, put
from simulator.api import Manifest
from simulator.controllers.resource_claim import TEMPLATES
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS

CLAIMS_PATH: Final = ("spec", "resourceClaims")
CONTAINERS: Final = ("spec", "containers")


class ClaimsPlace(FieldPlace):
    """The place of a pod's claims in the form. containers: the names of those that the pod has."""

    def __init__(self, containers: Sequence[str]) -> None:
        used = (path_of_claims(place) for place in range(len(containers)))
        super().__init__(*CLAIMS_PATH, notation=CLAIMS, also=tuple(used))
        self._containers = containers

    def value(self, manifest: Manifest) -> Any:
        entries = get(manifest, CLAIMS_PATH)
        if not isinstance(entries, list):
            return entries
        users = [get(manifest, path_of_claims(place)) or [] for place in range(len(self._containers))]
        return [self._with_containers(entry, users) for entry in entries]

    def _with_containers(self, entry: Any, users: Sequence[Any]) -> Any:
        """Return the entry with the names of the containers that use it. The notation cannot express a field
        ``unknown``."""
        if not isinstance(entry, dict) or "name" not in entry:
            return {"unknown": entry}
        names = [
            name
            for name, claims in zip(self._containers, users, strict=True)
            if {"name": entry["name"]} in claims
        ]
        if len(names) == len(self._containers):
            return entry
        return {**entry, "containers": names} if names else {"unknown": entry}

    def read(self, text: str) -> Any:
        found = super().read(text)
        for entry in found or ():
            for name in entry.get("containers") or ():
                if name not in self._containers:
                    message = gettext("There is no container %(name)s. The containers are %(names)s.")
                    raise ValidationError(message % {"name": name, "names": ", ".join(self._containers)})
        return found

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        entries = value or []
        bare = [{key: each[key] for key in each if key != "containers"} for each in entries]
        put(manifest, (*root, *CLAIMS_PATH), bare or None)
        for place, name in enumerate(self._containers):
            used = [
                {"name": each["name"]} for each in entries if name in each.get("containers", self._containers)
            ]
            put(manifest, (*root, *path_of_claims(place)), used or None)


def path_of_claims(place: int) -> Path:
    """Return the path of the claims that a container uses."""
    return (*CONTAINERS, place, "resources", "claims")


def container_names(spec: Manifest) -> list[str]:
    """Return the names of the containers of a pod or of a pod template; "" for one without a name."""
    found = get(spec, CONTAINERS)
    containers = found if isinstance(found, list) else []
    return [str(get(each, ("name",)) or "") for each in containers]


def existing_sources(sandbox: Readable) -> list[str]:
    """Return the claims and templates of the namespace default, as the field writes them. A claim that was
    made of a template is for its own pod."""
    templates = [f"template/{name}" for name in _in_default(sandbox.names(TEMPLATES))]
    made = {claim["metadata"]["name"] for claim in sandbox.list(RESOURCE_CLAIMS).items if is_made(claim)}
    names = [name for name in _in_default(sandbox.names(RESOURCE_CLAIMS)) if name not in made]
    return [*templates, *(f"claim/{name}" for name in names)]


def is_made(claim: Manifest) -> bool:
    return bool(claim["metadata"].get("ownerReferences"))


def _in_default(keys: list[str]) -> list[str]:
    return sorted(key.removeprefix("default/") for key in keys if key.startswith("default/"))
