"""The form for a KubeSchedulerConfiguration, with sections for each profile."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms import notation
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.forms.plugins import PluginArgument, PluginSwitch, Weight, defaults_of
from schedviz.web.manifests.paths import Path, get, mapping
from schedviz.web.text.links import in_english
from simulator.api import Manifest
from simulator.config.configuration import (
    ADAPTIVE_PERCENT,
    ALL_NODES_PERCENT,
    API_VERSION,
    DEFAULT_SCHEDULER_NAME,
    MAX_PROFILES,
)
from simulator.framework.interface import EXTENSION_POINTS
from simulator.plugins.registry import registered

KIND: Final = "KubeSchedulerConfiguration"
PERCENTAGES: Final = (ADAPTIVE_PERCENT, 5, 10, 20, 30, 50, 70)
"""The offered values of percentageOfNodesToScore."""
STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
Fold = tuple[Any, tuple[str, ...]]


def shape(text: str) -> list[Manifest]:
    """Parse the points of a function: "0=0, 100=10": a utilization in percent and its score, 0 to 10."""
    try:
        return [{"utilization": int(at), "score": int(score)} for at, score in notation.pairs(text).items()]
    except ValueError:
        raise ValidationError(gettext("Write utilization=score in whole numbers: 0=0, 100=10.")) from None


def weights(text: str) -> list[Manifest]:
    """Parse resources and their weights: "cpu=1, memory=1"."""
    try:
        return [{"name": name, "weight": int(weight)} for name, weight in notation.pairs(text).items()]
    except ValueError:
        raise ValidationError(gettext("Write resource=weight in whole numbers: cpu=1, memory=1.")) from None


SHAPE: Final = notation.Notation(
    shape, lambda points: ", ".join(f"{point['utilization']}={point['score']}" for point in points)
)
WEIGHTS: Final = notation.Notation(
    weights,
    lambda found: ", ".join(f"{each['name']}={each['weight']}" for each in found),
    lambda found: [{"weight": 1} | each for each in found],
)


class SchedulerForm(ManifestForm):
    title = _("Scheduler configuration")
    kinds = (KIND,)
    fixed = ()

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "profiles": [{"schedulerName": DEFAULT_SCHEDULER_NAME}],
        }

    def set_up(self, manifest: Manifest) -> None:
        found = manifest.get("profiles")
        profiles = found[:MAX_PROFILES] if isinstance(found, list) and found else [{}]
        folds = [
            fold
            for number, profile in enumerate(profiles)
            for fold in self.profile(manifest, number, mapping(profile), alone=len(profiles) == 1)
        ]
        # Here the default is another one than that of kube-scheduler.
        self.percentage(
            manifest,
            "percentage",
            _("Nodes to look at"),
            ("percentageOfNodesToScore",),
            (gettext("all nodes (default)"), PERCENTAGES),
        )
        self.fields["percentage"].help_text = in_english("percentageOfNodesToScore")
        common = (
            self.number("initial-backoff", "podInitialBackoffSeconds", ("podInitialBackoffSeconds",)),
            self.number("max-backoff", "podMaxBackoffSeconds", ("podMaxBackoffSeconds",)),
        )
        self.groups = (*folds, (_("For all profiles"), common))
        # The names of plugins in the lists of the profile are not values without a field.
        own: list[Path] = []
        for number in range(len(profiles)):
            own.append(("profiles", number, "plugins", "multiPoint"))
            own += [path for place in self.places.values() for path in named(place, number)]
        self.own = (*ManifestForm.own, *own)

    def profile(self, manifest: Manifest, number: int, profile: Manifest, *, alone: bool) -> Iterable[Fold]:
        """Add the fields of one profile, and return its closed sections. Name and strategy of the first
        profile are not in a section."""
        path: Path = ("profiles", number)
        called = str(profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME)[:80]
        name = f"p{number}-{{}}".format
        argument = partial(PluginArgument, path, manifest)
        fit = partial(argument, "NodeResourcesFit", "scoringStrategy")
        features = self.sandbox.meta().features()
        plugins, defaults = registered(features), defaults_of(features)
        order = [*defaults, *sorted(plugins.keys() - defaults.keys())]

        first = (
            self.text(name("name"), in_english("schedulerName"), FieldPlace(*path, "schedulerName")),
            self.choice(name("strategy"), _("Scoring strategy of NodeResourcesFit"), fit("type"), STRATEGIES),
            self.text(
                name("resources"),
                _("Resources and their weights"),
                fit("resources", notes=WEIGHTS),
                "cpu=1, memory=1",
            ),
            self.text(
                name("shape"),
                _("Shape of RequestedToCapacityRatio"),
                fit("requestedToCapacityRatio", "shape", notes=SHAPE),
                "0=0, 100=10",
            ),
        )
        scoring = [each for each in order if issubclass(plugins[each], EXTENSION_POINTS["score"])]
        weights = tuple(
            self.integer(name(each), in_english(each), Weight(path, manifest, defaults, each))
            for each in scoring
        )
        switches = tuple(
            self.box(name(f"on-{each}"), in_english(each), PluginSwitch(path, defaults, each))
            for each in order
        )
        arguments = (
            self.percentage(
                manifest,
                name("percentage"),
                in_english("percentageOfNodesToScore"),
                (*path, "percentageOfNodesToScore"),
                (gettext("as for all profiles"), (ALL_NODES_PERCENT, *PERCENTAGES)),
            ),
            self.integer(
                name("hard"),
                in_english("InterPodAffinity: hardPodAffinityWeight"),
                argument("InterPodAffinity", "hardPodAffinityWeight", notes=notation.NUMBER),
            ),
            self.choice(
                name("spread"),
                in_english("PodTopologySpread: defaultingType"),
                argument("PodTopologySpread", "defaultingType"),
                ("System", "List"),
            ),
            self.integer(
                name("candidates"),
                in_english("DefaultPreemption: minCandidateNodesPercentage"),
                argument("DefaultPreemption", "minCandidateNodesPercentage", notes=notation.NUMBER),
            ),
            self.integer(
                name("absolute"),
                in_english("DefaultPreemption: minCandidateNodesAbsolute"),
                argument("DefaultPreemption", "minCandidateNodesAbsolute", notes=notation.NUMBER),
            ),
        )
        folds: list[Fold] = [
            (gettext("Score weights"), weights),
            (gettext("Plugins"), switches),
            (gettext("Other arguments"), arguments),
        ]
        if number:
            folds.insert(0, (gettext("Name and scoring strategy"), first))
        return [(heading if alone else f"{called}: {heading}", fields) for heading, fields in folds]

    # Each method adds one field and returns its name.

    def number(self, name: str, label: str, path: Path) -> str:
        return self.integer(name, in_english(label), FieldPlace(*path, notation=notation.NUMBER))

    def integer(self, name: str, label: Any, place: FieldPlace) -> str:
        return self.put(name, place, forms.IntegerField(label=label, required=False))

    def text(self, name: str, label: Any, place: FieldPlace, placeholder: str = "") -> str:
        return self.put(name, place, text_field(label, placeholder=placeholder))

    def box(self, name: str, label: Any, place: FieldPlace) -> str:
        return self.put(name, place, forms.BooleanField(label=label, required=False))

    def choice(self, name: str, label: Any, place: FieldPlace, choices: Sequence[str]) -> str:
        default = gettext("Default ({value})").format(value=choices[0])
        options = [("", default), *((each, each) for each in choices)]
        return self.put(name, place, forms.ChoiceField(label=label, required=False, choices=options))

    def percentage(
        self, manifest: Manifest, name: str, label: Any, path: Path, choices: tuple[str, Sequence[int]]
    ) -> str:
        """Return a choice of percentageOfNodesToScore. ``choices``: what no value means, and the offered
        values. The value of the manifest is always offered."""
        default, offered = choices
        there = get(manifest, path)
        if isinstance(there, int) and there not in offered:
            offered = (*offered, there)
        options = [("", default), *((str(each), percentage_choice(each)) for each in offered)]
        field = forms.ChoiceField(label=label, required=False, choices=options)
        return self.put(name, FieldPlace(*path, notation=notation.NUMBER), field)

    def put(self, name: str, place: FieldPlace, field: forms.Field) -> str:
        self.places[name], self.fields[name] = place, field
        return name


def percentage_choice(percentage: int) -> str:
    if percentage == ADAPTIVE_PERCENT:
        return gettext("as kube-scheduler (0)")
    if percentage == ALL_NODES_PERCENT:
        return gettext("all nodes")
    return gettext("%(percent)s%% of the nodes") % {"percent": percentage}


def named(place: FieldPlace, profile: int) -> Iterable[Path]:
    """Yield the path of the plugin's name, for an Argument of this profile."""
    if isinstance(place, PluginArgument) and place.list[1] == profile:
        yield (*place.paths[0][: len(place.list) + 1], "name")


def with_profile(manifest: Manifest) -> Manifest:
    """Return the manifest with one more profile: a copy of the last one with another name."""
    found = get(manifest, ("profiles",))
    profiles = found if isinstance(found, list) and found else [{}]
    taken = [mapping(profile).get("schedulerName") or DEFAULT_SCHEDULER_NAME for profile in profiles]
    name = next(name for number in range(2, MAX_PROFILES + 3) if (name := f"scheduler-{number}") not in taken)
    return {**manifest, "profiles": [*profiles, {**mapping(profiles[-1]), "schedulerName": name}]}
