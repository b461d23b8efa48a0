"""The base class of the forms. Each field of a form reads and writes one place of a manifest. The form does
not change values without a field."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms.error_paths import path_in_manifest
from schedviz.web.forms.notation import TEXT, Notation, shown
from schedviz.web.manifests.paths import Path, get, leaves, mapping, put, written
from schedviz.web.reasons.faults import Explanation, explain_cause, joined
from schedviz.web.text.format import number
from simulator.api import Manifest
from simulator.apiserver.admission import MAX_COPIES
from simulator.apiserver.status import Cause

COPIES_AT_MOST: Final = MAX_COPIES
"""Maximum number of copies that one form creates: as many as one request may. That is about a second of
admission, and a fourth of the watch events that the store keeps, so that no page and no watch falls
behind."""


class FieldPlace:
    """The path of a field's value in a manifest, and its notation in the field. ``also``: more paths that get
    the same value."""

    def __init__(self, *path: str | int, notation: Notation = TEXT, also: tuple[Path, ...] = ()) -> None:
        self.paths = (path, *also)
        self.notation = notation

    def show(self, manifest: Manifest) -> str | None:
        """Return the text of the field; None if the notation cannot express the value."""
        return shown(self.notation, self.value(manifest))

    def read(self, text: str) -> Any:
        """Parse the text of the field; None for "". Raises ValidationError, ValueError."""
        return self.notation.read(text) if text else None

    def value(self, manifest: Manifest) -> Any:
        return get(manifest, self.paths[0])

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        for path in self.paths:
            put(manifest, (*root, *path), value)


class Pairs(FieldPlace):
    """The entries of a mapping whose keys satisfy ``belongs``; the other entries belong to other fields."""

    def __init__(
        self,
        *path: str | int,
        notation: Notation,
        belongs: Callable[[str], bool],
        also: tuple[Path, ...] = (),
    ) -> None:
        super().__init__(*path, notation=notation, also=also)
        self.belongs = belongs

    def value(self, manifest: Manifest) -> Any:
        found = super().value(manifest)
        if not isinstance(found, dict):
            return found
        return {key: each for key, each in found.items() if self.belongs(key)} or None

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        for path in self.paths:
            there = get(manifest, (*root, *path))
            others = {key: each for key, each in mapping(there).items() if not self.belongs(key)}
            put(manifest, (*root, *path), {**others, **(value or {})} or None)


class RefusedValue(ValidationError):
    """The API server refuses the value of a field."""

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(explanation.text)
        self.explanation = explanation


class UnsupportedManifest(ValueError):
    """A form cannot show this manifest; the message is translated, for the page."""


class ManifestForm(forms.Form):
    """A form whose fields are places of a manifest.

    sandbox: provides the choices of fields. manifest: some forms have fields that depend on it. exists:
    whether the manifest is that of a stored object."""

    title: ClassVar[Any] = ""
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of manifests that the form can show."""
    groups: tuple[tuple[Any, tuple[str, ...]], ...] = ()
    """The fields in sections that are closed at first: (heading, names of fields)."""
    fixed: ClassVar[tuple[str, ...]] = ("name", "namespace")
    """Fields that cannot be changed for a stored object."""
    own: tuple[Path, ...] = (("apiVersion",), ("kind",))
    """Paths besides the places that the form writes itself."""
    of_copies: ClassVar[tuple[str, ...]] = ("copies",)
    """Fields about the copies, which one manifest lacks."""
    use_required_attribute = False
    """Whether browsers check required fields: no, the API server does."""

    def __init__(
        self, sandbox: Readable, manifest: Manifest, data: Any = None, *, exists: bool = False
    ) -> None:
        super().__init__(data)
        self.sandbox = sandbox
        self.exists = exists
        self.places: dict[str, FieldPlace] = {}
        self.only_yaml: set[str] = set()
        """Fields whose notation cannot express the value of the manifest."""
        self.set_up(manifest)
        for name, field in self.fields.items():
            field.widget.attrs["aria-describedby"] = f"f-{name}-said"
        for name in self.fixed if exists else ():
            if name in self.fields:
                field = self.fields[name]
                lock = "disabled" if isinstance(field, forms.ChoiceField) else "readonly"
                field.widget.attrs[lock] = True

    def set_up(self, manifest: Manifest) -> None:
        """Set ``places``, and the choices of fields."""

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        """Return the manifest of a new object, before the user changes it."""
        raise NotImplementedError

    def show(self, manifest: Manifest) -> dict[str, str]:
        """Return the texts of the fields for a manifest. Raises UnsupportedManifest."""
        if manifest.get("kind") not in self.kinds:
            message = gettext("This form has fields for %(kinds)s; the YAML says %(kind)s.")
            kind = str(manifest.get("kind"))[:80]
            raise UnsupportedManifest(message % {"kinds": ", ".join(self.kinds), "kind": kind})
        for part in ("metadata", "spec", "status"):
            if not isinstance(manifest.get(part, {}), dict):
                raise UnsupportedManifest(gettext("%(field)s is not a mapping.") % {"field": part})
        root = get(manifest, self.root(manifest)) or {}
        texts = {name: place.show(root) for name, place in self.places.items()}
        self.only_yaml = {name for name, text in texts.items() if text is None}
        return {name: text or "" for name, text in texts.items()}

    def root(self, manifest: Manifest) -> Path:
        """Return the path to which the places are relative."""
        return ()

    def write(self, manifest: Manifest, changed: Iterable[str]) -> Manifest:
        """Write the cleaned values of these fields into a manifest, and return it."""
        root = self.root(manifest)
        for name in changed:
            if name in self.places:
                self.places[name].write(manifest, self.cleaned_data[name], root)
        return manifest

    def only_in_yaml(self, manifest: Manifest) -> int:
        """Return the number of values that no field shows, without those that every new object has."""
        root = self.root(manifest)
        shown_paths = [
            (*root, *path)
            for name, place in self.places.items()
            if name not in self.only_yaml
            for path in place.paths
        ]
        shown_paths += self.own
        start = self.start(self.sandbox)
        usual = {(*root, *path): value for path, value in leaves(get(start, self.root(start)))}
        return sum(
            1
            for path, value in leaves(manifest)
            if usual.get(path) != value and not any(path[: len(place)] == place for place in shown_paths)
        )

    def manifests(self, manifest: Manifest) -> list[Manifest]:
        """Return the manifests of the objects to create from this one: several for copies."""
        return [manifest]

    def clean(self) -> dict[str, Any]:
        for name, place in self.places.items():
            if name in self.cleaned_data:
                value = self.cleaned_data[name]
                try:
                    self.cleaned_data[name] = place.read(
                        "" if value in (None, "") or value is False else str(value)
                    )
                except ValidationError as error:
                    self.add_error(name, error)
        return self.cleaned_data

    def means(self, name: str, text: str) -> Any:
        """Return the value of a field's text; the text itself if it is invalid."""
        try:
            return self.places[name].read(text.strip()) if name in self.places else text.strip()
        except (ValidationError, ValueError):
            return text

    def field_of(self, path: str) -> str | None:
        """Return the field for a path in an error of the API server: the one with the longest place that is a
        prefix of the path."""
        plain = normal(path_in_manifest(path))
        found = [
            (len(place), name)
            for name, places in self.paths_of().items()
            for place in map(normal, places)
            if plain == place or plain.startswith((f"{place}.", f"{place}["))
        ]
        return max(found)[1] if found else None

    def paths_of(self) -> Mapping[str, list[str]]:
        return {name: [written(path) for path in place.paths] for name, place in self.places.items()}

    def take_causes(self, causes: Iterable[Cause]) -> list[Cause]:
        """Add the explanation of each cause to the errors of its field, and return the causes without a
        field."""
        others = list[Cause]()
        explained = dict[str, list[Explanation]]()
        for cause in causes:
            field = self.field_of(cause.field)
            if field is None:
                others.append(cause)
            else:
                explained.setdefault(field, []).append(explain_cause(cause))
        for field, explanations in explained.items():
            for explanation in joined(explanations):
                self.add_error(field, RefusedValue(explanation))
        return others

    def focus_first_error(self) -> None:
        """Let the page that shows the form begin at its first wrong field."""
        shown = [*self.first(), *(field for _, _, fields in self.sections() for field in fields)]
        wrong = next((field for field in shown if field.errors), None)
        if wrong is not None:
            wrong.field.widget.attrs["autofocus"] = True

    def sections(self) -> list[tuple[str, Any, list[forms.BoundField]]]:
        """Return the closed sections: (id, heading, fields)."""
        return [
            (f"fold-{number}", heading, [self[name] for name in names if name in self.fields])
            for number, (heading, names) in enumerate(self.groups)
        ]

    def first(self) -> list[forms.BoundField]:
        """Return the fields before the closed sections."""
        folded = {name for _, names in self.groups for name in names}
        return [field for field in self if field.name not in folded]


def normal(path: str) -> str:
    """Return a path with all keys of mappings after a dot. The API server writes some of them in brackets."""
    pieces = path.replace("]", "").split("[")
    return pieces[0] + "".join(f"[{piece}" if piece[:1].isdecimal() else f".{piece}" for piece in pieces[1:])


def copies_field() -> forms.IntegerField:
    most = {"n": number(COPIES_AT_MOST)}
    return forms.IntegerField(
        label=_("Copies"),
        initial=1,
        min_value=1,
        max_value=COPIES_AT_MOST,
        help_text=format_lazy(_("At most {n}. Either all are created, or none."), **most),
    )


def text_field(
    label: Any, *, help_text: Any = "", length: int = 2000, rows: int = 0, placeholder: str = ""
) -> forms.CharField:
    """Return a text field. rows: 0 = one line; else a text area."""
    attributes = {"placeholder": placeholder} if placeholder else {}
    attributes |= {"rows": str(rows)} if rows else {}
    widget = forms.Textarea(attributes) if rows else forms.TextInput(attributes)
    return forms.CharField(label=label, required=False, max_length=length, help_text=help_text, widget=widget)
