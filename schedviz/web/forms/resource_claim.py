"""Resource claims, and the templates of which they are made."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.forms.device_fields import CONSTRAINTS, REQUESTS
from schedviz.web.manifests.paths import Path
from simulator.api import Manifest
from simulator.plugins.dynamic_resources.device_selectors import DEVICE_CLASSES

NAMES_AT_MOST: Final = 6
"""Maximum number of names of existing objects in a help text."""


def with_names(text: Any, words: Any, names: Iterable[str]) -> Any:
    """Return a help text, and behind it the words with the names of the first objects that there are."""
    listed = ", ".join(islice(sorted(names), NAMES_AT_MOST))
    return format_lazy("{} {}", text, format_lazy(words, names=listed)) if listed else text


class ResourceClaimForm(ManifestForm):
    title = _("New ResourceClaim")
    kinds = ("ResourceClaim",)
    devices: Path = ("spec", "devices")
    """The path of the requests and constraints."""

    name = text_field(_("Name"), length=253)
    requests = text_field(
        _("Requests"),
        rows=4,
        length=40_000,
        placeholder="gpus: 2 x gpu",
        help_text=_(
            "One per line: NAME: NUMBER x CLASS, or “all x CLASS”; behind it “adminAccess”, and “where” with "
            "a CEL expression. Lines NAME/A, NAME/B are alternatives (firstAvailable)."
        ),
    )
    constraints = text_field(
        _("Constraints"),
        rows=2,
        placeholder="matchAttribute gpu.example.com/numa: gpus",
        help_text=_(
            "matchAttribute or distinctAttribute, one per line. Without requests it is for all of them."
        ),
    )
    namespace = text_field(_("Namespace"), length=63)

    groups = ((_("More"), ("namespace",)),)
    fixed = ("name", "namespace", "requests", "constraints")

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "namespace": FieldPlace("metadata", "namespace"),
            "requests": FieldPlace(*self.devices, "requests", notation=REQUESTS),
            "constraints": FieldPlace(*self.devices, "constraints", notation=CONSTRAINTS),
        }
        field = self.fields["requests"]
        if self.exists:
            field.help_text = _("The requests of an existing object cannot be changed.")
        else:
            field.help_text = with_names(
                field.help_text, _("Classes: {names}."), self.sandbox.names(DEVICE_CLASSES)
            )

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "gpus", "namespace": "default"},
            "spec": {"devices": first_request(sandbox)},
        }


class ResourceClaimTemplateForm(ResourceClaimForm):
    title = _("New ResourceClaimTemplate")
    kinds = ("ResourceClaimTemplate",)
    devices = ("spec", "spec", "devices")

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpus", "namespace": "default"},
            "spec": {"spec": {"devices": first_request(sandbox)}},
        }


def first_request(sandbox: Readable) -> Manifest:
    """Return a request for one device of the first class that there is."""
    name = min(sandbox.names(DEVICE_CLASSES), default="gpu")
    return {"requests": [{"name": "gpus", "exactly": {"deviceClassName": name, "count": 1}}]}
