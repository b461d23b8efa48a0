"""Synchronizes the fields of a form with the YAML beside it.

Both are posted, together with the YAML as it was when both were last equal (``drawn``). The values of the
YAML count, except for fields that were changed since then; these are written into the YAML. So the result is
the same whether the user edits fields or YAML, and with and without scripts.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from django import forms
from django.utils.translation import gettext

from schedviz.field_positions import FieldPositions
from schedviz.store.past import Readable
from schedviz.web.forms.all_faults import Fault
from schedviz.web.forms.base import ManifestForm, UnsupportedManifest
from schedviz.web.forms.error_paths import path_in_manifest
from schedviz.web.forms.unit_mistakes import find_unit_mistakes
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.reasons.faults import Explanation, explain_cause, joined
from schedviz.web.reasons.yaml_faults import explain_text, placed
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.apiserver.status import Cause


class FormAndYaml:
    """A form and its YAML after synchronization. ``form`` shows the values of the manifest, or the posted
    texts that are invalid."""

    def __init__(
        self,
        kind: type[ManifestForm],
        sandbox: Readable,
        start: Manifest,
        posted: Mapping[str, str] | None = None,
        *,
        exists: bool = False,
    ) -> None:
        """start: the initial manifest. posted: the fields, ``yaml`` and ``drawn``, all optional. A field that
        was not posted is unchanged."""
        self.posted = {name: plain(text) for name, text in (posted or {}).items()}
        self.drawn = self.posted.get("drawn") or to_yaml([start])
        self.text = self.posted.get("yaml", self.drawn)
        self.problems: list[Explanation] = []
        """Errors of the YAML, and errors of values without a field."""
        self.unread = ""
        """The reason for which the form cannot show the valid YAML; "" = it can."""
        self.manifest: Manifest | None = None
        """The manifest in the YAML; None if the YAML is invalid."""
        try:
            self.manifest = parse_document(self.text)
        except ManifestError as error:
            self.problems.append(explain_text(error))
        agreed = parse_or_none(self.drawn) or start
        form = kind(sandbox, self.manifest or agreed, exists=exists)
        before = self._shown(form, agreed)
        texts = before if self.manifest is None else self._shown(form, self.manifest, set_unread=True)
        changed = {name: text for name, text in self._changes(form, before) if posted is not None}
        self.form = kind(sandbox, self.manifest or agreed, texts | changed, exists=exists)
        self.form.only_yaml = form.only_yaml
        self.changed = changed.keys()
        self.form.is_valid()
        if self.manifest is None:
            return
        valid = [name for name in changed if name in self.form.cleaned_data]
        if valid:
            self.manifest = self.form.write(copy.deepcopy(self.manifest), valid)
            self.text = to_yaml([self.manifest])
            self._redraw(kind, sandbox, changed, exists)
        self.drawn = self.text

    def _redraw(
        self, kind: type[ManifestForm], sandbox: Readable, changed: Mapping[str, str], exists: bool
    ) -> None:
        """Make the form again after fields were written: one field may change another, as the machine of a
        node changes its cpu. Texts of the user keep their form."""
        assert self.manifest is not None
        form = kind(sandbox, self.manifest, exists=exists)
        texts = self._shown(form, self.manifest)
        kept = {
            name: text
            for name, text in changed.items()
            if name not in self.form.cleaned_data
            or form.means(name, text) == form.means(name, texts.get(name, text))
        }
        only = form.only_yaml
        self.form = kind(sandbox, self.manifest, texts | kept, exists=exists)
        self.form.only_yaml = only
        self.form.is_valid()

    def _shown(self, form: ManifestForm, manifest: Manifest, *, set_unread: bool = False) -> dict[str, str]:
        """Return the texts of the fields for a manifest; those about its copies, which it lacks, as
        posted."""
        usual = {name: str(field.initial or "") for name, field in form.fields.items()}
        kept = {name: self.posted[name] for name in form.of_copies if name in self.posted}
        try:
            return usual | kept | form.show(manifest)
        except UnsupportedManifest as error:
            if set_unread:
                self.unread = str(error)
            return usual | {name: self.posted[name] for name in form.fields if name in self.posted}

    def _changes(self, form: ManifestForm, before: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        for name, field in form.fields.items():
            # Browsers do not post a checkbox that is not checked.
            absent = "" if "drawn" in self.posted and isinstance(field, forms.BooleanField) else None
            text = self.posted.get(name, absent)
            if text is not None and form.means(name, text) != form.means(name, before.get(name, "")):
                yield name, text

    @property
    def valid(self) -> bool:
        """Whether the manifest can be sent to the API server."""
        return self.manifest is not None and not self.form.errors

    @property
    def rewritten(self) -> bool:
        """Whether the YAML differs from the posted YAML."""
        return self.text != self.posted.get("yaml")

    @property
    def reshaped(self) -> bool:
        """Whether the form has fields that were not posted."""
        fixed = self.form.fixed if self.form.exists else ()
        return any(
            name not in self.posted
            for name, field in self.form.fields.items()
            if name not in fixed and not isinstance(field, forms.BooleanField)
        )

    @cached_property
    def stale(self) -> list[str]:
        """The fields whose value differs from the posted value."""
        texts = self.form.data
        return [
            name
            for name, field in self.form.fields.items()
            if (name in self.posted or isinstance(field, forms.BooleanField))
            and self.form.means(name, texts.get(name, "")) != self.form.means(name, self.posted.get(name, ""))
        ]

    @property
    def only_in_yaml(self) -> int:
        readable = self.manifest is not None and not self.unread
        return self.form.only_in_yaml(self.manifest) if readable and self.manifest else 0

    def add_faults(self, faults: Iterable[Fault]) -> None:
        """Add the faults that the API server has found to their fields; those without a field to
        ``problems``, with their lines in the YAML."""
        others = self.form.take_causes(fault.cause for fault in faults)
        self.problems += explain_faults(self.text, [Fault(0, cause) for cause in others])

    @cached_property
    def mistakes(self) -> list[str]:
        """The values of the YAML that are valid and most likely not meant."""
        found = find_unit_mistakes(self.manifest) if self.manifest is not None else ()
        return [*with_positions(self.text, [found])]


def explain_faults(text: str, faults: Iterable[Fault]) -> list[Explanation]:
    """Return the explanations of the faults of the documents of a text, each with the line and the column of
    its field."""
    positions = FieldPositions(text)
    found = []
    for document, cause in faults:
        explanation = explain_cause(cause)
        found.append(explanation._replace(text=_with_position(positions, cause, document, explanation.text)))
    return joined(found)


def with_positions(text: str, causes: Iterable[Iterable[Cause]]) -> Iterator[str]:
    """Yield the messages of the causes in each document of a text, each with the line and the column of its
    field."""
    positions = FieldPositions(text)
    for document, found in enumerate(causes):
        for cause in found:
            yield _with_position(positions, cause, document, cause.message)


def _with_position(positions: FieldPositions, cause: Cause, document: int, text: str) -> str:
    if not cause.field:
        return text
    named = gettext("%(field)s: %(text)s") % {"field": cause.field, "text": text}
    position = positions.find(path_in_manifest(cause.field), document)
    return placed(named, position.line, position.column) if position else named


def plain(text: str) -> str:
    """Return the text with "\\n" as line ends; browsers post "\\r\\n"."""
    return text.replace("\r\n", "\n")


def parse_document(text: str) -> Manifest:
    """Parse a text with exactly one document. Raises ManifestError."""
    found = parse_manifests(text)
    if not found:
        raise ManifestError("no document")
    if len(found) > 1:
        raise ManifestError("more than one document")
    return found[0]


def parse_or_none(text: str) -> Manifest | None:
    """Parse a text with exactly one document; None if it is invalid."""
    try:
        return parse_document(plain(text))
    except ManifestError:
        return None
