"""A form and the YAML beside it, kept in step.

Both are posted, with the YAML as it was when they last agreed (``drawn``). The rule is one: the YAML says
everything, but for the fields that somebody changed since they agreed; those are written into it. So it does
not matter which of the two was edited, nor whether a script brought the other up to date in between.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cached_property

from django import forms
from django.utils.translation import gettext

from schedviz.store import Sandbox
from schedviz.web.forms.base import ManifestForm, Unreadable
from schedviz.web.view.yaml import to_yaml
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, manifests
from simulator.apiserver.status import Cause
from simulator.apiserver.yaml_reader import line_of


class InStep:
    """``form`` shows what the manifest says, or the reader's own words where they are not in it yet."""

    def __init__(
        self,
        kind: type[ManifestForm],
        sandbox: Sandbox,
        start: Manifest,
        posted: Mapping[str, str] | None = None,
        *,
        exists: bool = False,
    ) -> None:
        """``start``: what the form began with; ``posted``: fields, ``yaml`` and ``drawn``, each as far as it
        was there. A field that was not posted was not changed."""
        self.posted = {name: plain(text) for name, text in (posted or {}).items()}
        self.drawn = self.posted.get("drawn") or to_yaml([start])
        self.text = self.posted.get("yaml", self.drawn)
        self.problems: list[str] = []
        """What is wrong with the YAML, or with what is in none of the fields."""
        self.unread = ""
        """Why the fields do not show what the YAML says, which is right as YAML."""
        self.manifest: Manifest | None = None
        """None where the YAML cannot be read."""
        try:
            self.manifest = document(self.text)
        except ManifestError as error:
            self.problems.append(str(error))
        agreed = read(self.drawn) or start
        form = kind(sandbox, self.manifest or agreed, exists=exists)
        before = self._shown(form, agreed)
        texts = before if self.manifest is None else self._shown(form, self.manifest, said=True)
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
        self, kind: type[ManifestForm], sandbox: Sandbox, changed: Mapping[str, str], exists: bool
    ) -> None:
        """One field may say something of another: a machine has its cpu. What somebody typed stays as he
        wrote it."""
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

    def _shown(self, form: ManifestForm, manifest: Manifest, *, said: bool = False) -> dict[str, str]:
        """With what no manifest holds, the number of copies, as it was posted."""
        usual = {name: str(field.initial or "") for name, field in form.fields.items()}
        kept = {name: self.posted[name] for name in ("copies",) if name in self.posted}
        try:
            return usual | kept | form.show(manifest)
        except Unreadable as error:
            if said:
                self.unread = str(error)
            return usual | {name: self.posted[name] for name in form.fields if name in self.posted}

    def _changes(self, form: ManifestForm, before: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        for name, field in form.fields.items():
            # A box that is not ticked is not posted at all.
            absent = "" if "drawn" in self.posted and isinstance(field, forms.BooleanField) else None
            text = self.posted.get(name, absent)
            if text is not None and form.means(name, text) != form.means(name, before.get(name, "")):
                yield name, text

    @property
    def fine(self) -> bool:
        """Nothing stands against sending the manifest off."""
        return self.manifest is not None and not self.form.errors

    @property
    def rewritten(self) -> bool:
        """Whether the YAML is another one than was posted."""
        return self.text != self.posted.get("yaml")

    @property
    def reshaped(self) -> bool:
        """Whether there are other fields now than were posted."""
        fixed = self.form.fixed if self.form.exists else ()
        return any(
            name not in self.posted
            for name, field in self.form.fields.items()
            if name not in fixed and not isinstance(field, forms.BooleanField)
        )

    @cached_property
    def stale(self) -> list[str]:
        """The fields that show something else now than was posted."""
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

    def take(self, causes: Iterable[Cause], otherwise: str) -> None:
        """What the API server says is wrong: beside its field, or with its line in the YAML."""
        causes = list(causes)
        for cause in self.form.take_causes(causes):
            line = line_of(self.text, cause.field) if cause.field else None
            self.problems.append(
                f"{gettext('line %(line)s') % {'line': line}}: {cause}" if line else str(cause)
            )
        if not causes:
            self.problems.append(otherwise)


def plain(text: str) -> str:
    """Without the line ends that browsers post."""
    return text.replace("\r\n", "\n")


def document(text: str) -> Manifest:
    """The one document of a text. Raises ManifestError."""
    found = manifests(text)
    if not found:
        raise ManifestError(gettext("There is no document in the text."))
    if len(found) > 1:
        raise ManifestError(gettext("A form has one document; several go by “Create from YAML”."))
    return found[0]


def read(text: str) -> Manifest | None:
    """The same; None where there is none."""
    try:
        return document(plain(text))
    except ManifestError:
        return None
