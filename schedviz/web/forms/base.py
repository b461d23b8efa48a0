"""What the forms share: text to labels, taints and tolerations, and an API server's causes to fields."""

import re
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.status import Cause

COPIES_AT_MOST: Final = 200
"""Of one form; more come by YAML or the API."""
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class ManifestForm(forms.Form):
    """Made for a sandbox: choices and proposals come from it."""

    title: ClassVar[Any] = ""
    fields_of: ClassVar[dict[str, str]] = {}
    """Field of the form by the beginning of a path in the manifest; the longest that fits wins."""
    use_required_attribute = False
    """The API server's answer is the same with and without a browser's own checks, so those stay off."""

    def __init__(self, sandbox: Sandbox, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sandbox = sandbox

    def manifests(self) -> list[Manifest]:
        """What the form asks for, one manifest for each object; only of a valid form."""
        raise NotImplementedError

    def take_causes(self, causes: Iterable[Cause], otherwise: str) -> None:
        """Put each cause beside its field; ``otherwise`` is said of the whole where there is none."""
        found = False
        for cause in causes:
            found = True
            prefixes = [prefix for prefix in self.fields_of if cause.field.startswith(prefix)]
            field = self.fields_of[max(prefixes, key=len)] if prefixes else None
            self.add_error(field, cause.message if field else str(cause))
        if not found:
            self.add_error(None, otherwise)


def copies_field() -> forms.IntegerField:
    return forms.IntegerField(label=_("Copies"), initial=1, min_value=1, max_value=COPIES_AT_MOST)


def pairs(text: str) -> dict[str, str]:
    """ "a=b, c=d" -> {"a": "b", "c": "d"}. Raises ValidationError."""
    found = {}
    for item in items(text):
        key, equals, value = item.partition("=")
        if not equals:
            raise ValidationError(gettext("“%(item)s” is not key=value.") % {"item": item})
        found[key.strip()] = value.strip()
    return found


def taints(text: str) -> list[dict[str, str]]:
    """ "key=value:NoSchedule, key:NoExecute", as kubectl taint takes them. Raises ValidationError."""
    found = []
    for item in items(text):
        rest, colon, effect = item.rpartition(":")
        if not colon or effect not in EFFECTS:
            message = gettext("“%(item)s” is not key=value:Effect; the effects are %(effects)s.")
            raise ValidationError(message % {"item": item, "effects": ", ".join(EFFECTS)})
        key, equals, value = rest.partition("=")
        found.append({"key": key, "effect": effect, **({"value": value} if equals else {})})
    return found


def tolerations(text: str) -> list[dict[str, str]]:
    """ "key=value:Effect", "key:Effect", "key=value" or "key": the shorter ones tolerate any value, any
    effect."""
    found = []
    for item in items(text):
        rest, colon, effect = item.rpartition(":")
        rest = rest if colon else item
        key, equals, value = rest.partition("=")
        match = {"operator": "Equal", "value": value} if equals else {"operator": "Exists"}
        found.append({"key": key, **match, **({"effect": effect} if colon else {})})
    return found


def items(text: str) -> list[str]:
    return [item.strip() for item in re.split(r"[,\n]", text) if item.strip()]


class PairsField(forms.CharField):
    def clean(self, value: Any) -> Any:
        return pairs(super().clean(value))


class TaintsField(forms.CharField):
    def clean(self, value: Any) -> Any:
        return taints(super().clean(value))


class TolerationsField(forms.CharField):
    def clean(self, value: Any) -> Any:
        return tolerations(super().clean(value))
