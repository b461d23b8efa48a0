"""What the forms share. A form's fields stand for places in one manifest: it reads them from there and writes
them there, and what it has no field for it leaves alone."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store import Sandbox
from schedviz.web.forms.notation import TEXT, Notation, shown
from schedviz.web.forms.places import Path, get, leaves, mapping, put, written
from simulator.api import Manifest
from simulator.apiserver.status import Cause

COPIES_AT_MOST: Final = 200
"""Of one form; more come by YAML or the API."""


class Place:
    """Where a field's value lies in a manifest, and how the field writes it. ``also``: further paths that get
    the same value."""

    def __init__(self, *path: str | int, notation: Notation = TEXT, also: tuple[Path, ...] = ()) -> None:
        self.paths = (path, *also)
        self.notation = notation

    def show(self, manifest: Manifest) -> str | None:
        """The field's text; None where only the YAML can say it."""
        return shown(self.notation, self.value(manifest))

    def read(self, text: str) -> Any:
        """The value that a field's text stands for; None for nothing. Raises ValidationError, ValueError."""
        return self.notation.read(text) if text else None

    def value(self, manifest: Manifest) -> Any:
        return get(manifest, self.paths[0])

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        for path in self.paths:
            put(manifest, (*root, *path), value)


class Pairs(Place):
    """The pairs of a mapping whose keys this field stands for; the others there belong to other fields."""

    def __init__(
        self,
        *path: str | int,
        notation: Notation,
        mine: Callable[[str], bool],
        also: tuple[Path, ...] = (),
    ) -> None:
        super().__init__(*path, notation=notation, also=also)
        self.mine = mine

    def value(self, manifest: Manifest) -> Any:
        found = super().value(manifest)
        if not isinstance(found, dict):
            return found
        return {key: each for key, each in found.items() if self.mine(key)} or None

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        for path in self.paths:
            there = get(manifest, (*root, *path))
            others = {key: each for key, each in mapping(there).items() if not self.mine(key)}
            put(manifest, (*root, *path), {**others, **(value or {})} or None)


class Unreadable(ValueError):
    """A manifest that a form has no fields for; says why."""


class ManifestForm(forms.Form):
    """Made for a sandbox, as choices and proposals come from it, and for a manifest, which tells the fields
    of forms that have not always the same. ``exists``: it is a stored object's."""

    title: ClassVar[Any] = ""
    kinds: ClassVar[tuple[str, ...]] = ()
    """That it has fields for."""
    groups: tuple[tuple[Any, tuple[str, ...]], ...] = ()
    """Fields behind a fold, each with its heading: the first look needs none of them."""
    fixed: ClassVar[tuple[str, ...]] = ("name", "namespace")
    """Fields that cannot be changed once the object exists."""
    own: tuple[Path, ...] = (("apiVersion",), ("kind",))
    """What the form itself looks after, beside its places."""
    use_required_attribute = False
    """The API server's answer is the same with and without a browser's own checks, so those stay off."""

    def __init__(
        self, sandbox: Sandbox, manifest: Manifest, data: Any = None, *, exists: bool = False
    ) -> None:
        super().__init__(data)
        self.sandbox = sandbox
        self.exists = exists
        self.places: dict[str, Place] = {}
        self.only_yaml: set[str] = set()
        """Fields whose value only the YAML can say."""
        self.set_up(manifest)
        for name in self.fixed if exists else ():
            if name in self.fields:
                field = self.fields[name]
                lock = "disabled" if isinstance(field, forms.ChoiceField) else "readonly"
                field.widget.attrs[lock] = True

    def set_up(self, manifest: Manifest) -> None:
        """Say which places there are, and which choices."""

    @staticmethod
    def start(sandbox: Sandbox) -> Manifest:
        """What a new object is until somebody changes it."""
        raise NotImplementedError

    def show(self, manifest: Manifest) -> dict[str, str]:
        """What the fields show of a manifest. Raises Unreadable."""
        if manifest.get("kind") not in self.kinds:
            message = gettext("This form has fields for %(kinds)s; the YAML says %(kind)s.")
            kind = str(manifest.get("kind"))[:80]
            raise Unreadable(message % {"kinds": ", ".join(self.kinds), "kind": kind})
        for part in ("metadata", "spec", "status"):
            if not isinstance(manifest.get(part, {}), dict):
                raise Unreadable(gettext("%(field)s is no mapping.") % {"field": part})
        root = get(manifest, self.root(manifest)) or {}
        texts = {name: place.show(root) for name, place in self.places.items()}
        self.only_yaml = {name for name, text in texts.items() if text is None}
        return {name: text or "" for name, text in texts.items()}

    def root(self, manifest: Manifest) -> Path:
        """Where the places begin."""
        return ()

    def write(self, manifest: Manifest, changed: Iterable[str]) -> Manifest:
        """Lay the values of these fields, which are valid, into a manifest; the manifest then."""
        root = self.root(manifest)
        for name in changed:
            if name in self.places:
                self.places[name].write(manifest, self.cleaned_data[name], root)
        return manifest

    def only_in_yaml(self, manifest: Manifest) -> int:
        """How many values no field shows, but for those that every new object of the form has."""
        root = self.root(manifest)
        mine = [
            (*root, *path)
            for name, place in self.places.items()
            if name not in self.only_yaml
            for path in place.paths
        ]
        mine += self.own
        start = self.start(self.sandbox)
        usual = {(*root, *path): value for path, value in leaves(get(start, self.root(start)))}
        return sum(
            1
            for path, value in leaves(manifest)
            if usual.get(path) != value and not any(path[: len(place)] == place for place in mine)
        )

    def manifests(self, manifest: Manifest) -> list[Manifest]:
        """What is to be made of it: one for each object."""
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
        """What a field's text stands for; the text itself where it stands for nothing."""
        try:
            return self.places[name].read(text.strip()) if name in self.places else text.strip()
        except (ValidationError, ValueError):
            return text

    def field_of(self, path: str) -> str | None:
        """The field for a path of the API server's answer: the one whose place is nearest above."""
        plain = normal(path)
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
        """Put each cause beside its field; those without one."""
        others = []
        for cause in causes:
            field = self.field_of(cause.field)
            if field is None:
                others.append(cause)
            elif cause.message not in self.errors.get(field, []):
                self.add_error(field, cause.message)
        return others

    def sections(self) -> list[tuple[str, Any, list[forms.BoundField]]]:
        """The fields behind the folds: an id, the heading, the fields."""
        return [
            (f"fold-{number}", heading, [self[name] for name in names if name in self.fields])
            for number, (heading, names) in enumerate(self.groups)
        ]

    def first(self) -> list[forms.BoundField]:
        """The fields before the folds."""
        folded = {name for _, names in self.groups for name in names}
        return [field for field in self if field.name not in folded]


def normal(path: str) -> str:
    """The API server writes a key of a mapping in brackets or behind a dot: here always the latter."""
    pieces = path.replace("]", "").split("[")
    return pieces[0] + "".join(f"[{piece}" if piece[:1].isdecimal() else f".{piece}" for piece in pieces[1:])


def copies_field() -> forms.IntegerField:
    return forms.IntegerField(label=_("Copies"), initial=1, min_value=1, max_value=COPIES_AT_MOST)


def verbatim(name: str) -> SafeString:
    """A label that is Kubernetes' own word, in whatever language the page is."""
    return format_html('<span lang="en">{}</span>', name)


def text_field(
    label: Any, *, help_text: Any = "", length: int = 2000, rows: int = 0, placeholder: str = ""
) -> forms.CharField:
    """A field for any notation; with ``rows`` of several lines."""
    attributes = {"placeholder": placeholder} if placeholder else {}
    attributes |= {"rows": str(rows)} if rows else {}
    widget = forms.Textarea(attributes) if rows else forms.TextInput(attributes)
    return forms.CharField(label=label, required=False, max_length=length, help_text=help_text, widget=widget)
