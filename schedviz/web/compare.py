"""What may be compared: the workloads, the schedulers to choose from, and what a form says of them."""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.comparisons.order import Half, Source, Wish
from schedviz.store import NoSandbox, Store
from schedviz.web import scenarios
from simulator.api import SECOND, Manifest
from simulator.apiserver.manifest import ManifestError, manifests
from simulator.config import ConfigError, load
from simulator.objects import durations
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scenario import API_VERSION, Scenario, ScenarioError
from simulator.scenario import load as load_scenario

MAX_TEXT: Final = 500_000
"""Characters of manifests: some thousand pods. A larger cluster is brought as a sandbox."""

MAX_SECONDS: Final = 3600
"""Simulated; as long as the command line's."""

DEFAULT_DURATION: Final = "3m"

HEADER: Final = f"apiVersion: {API_VERSION}\nkind: Scenario\nmetadata: {{name: pasted}}\n---\n"
"""For manifests without one of their own."""

OWN: Final = "own"
YAML: Final = "yaml"


class Preset(NamedTuple):
    name: str
    label: str | Promise
    config: Manifest | None = None
    queue: QueueVersion = TODAY


def _configuration(profile: Manifest) -> Manifest:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


PRESETS: Final = (
    Preset(OWN, _("as the workload has it")),
    Preset("default", _("default")),
    Preset(
        "packing",
        _("MostAllocated: packs nodes"),
        _configuration(
            {
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "scoringStrategy": {
                                "type": "MostAllocated",
                                "resources": [
                                    {"name": "cpu", "weight": 1},
                                    {"name": "memory", "weight": 1},
                                ],
                            }
                        },
                    }
                ]
            }
        ),
    ),
    Preset(
        "no-spreading",
        _("no spreading: PodTopologySpread scores nothing"),
        _configuration({"plugins": {"score": {"disabled": [{"name": "PodTopologySpread"}]}}}),
    ),
    Preset(
        "no-preemption",
        _("no preemption"),
        _configuration({"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}),
    ),
    Preset("v1.10", _("default, with the queue of 1.10"), queue="v1.10"),
    Preset("fifo", _("default, with the line of before 1.9"), queue="fifo"),
    Preset(YAML, _("the YAML below")),
)


class Unclear(ValueError):
    """What is wrong with a form, by its field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def read(store: Store, posted: Mapping[str, str]) -> Wish:
    """``workload`` is ``scenario:NAME``, ``sandbox:NAME`` or ``manifests:`` with ``text``; ``a`` and ``b``
    are presets, with ``a_yaml`` and ``a_seed``; ``until`` is a duration. Raises Unclear."""
    kind, _colon, name = posted.get("workload", "").partition(":")
    config: Manifest | None
    text = ""
    if kind == "sandbox":
        try:
            meta = store.sandbox(name).meta()
        except (NoSandbox, ValueError):
            raise Unclear("workload", gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None
        config, queue, seed = meta.config, meta.queue, meta.seed
    else:
        if kind == "scenario" and name in scenarios.scenarios():
            text = (scenarios.FOLDER / f"{name}.yaml").read_text()
        elif kind == "manifests":
            text = posted.get("text", "")
        else:
            raise Unclear("workload", gettext("Choose a workload."))
        text, scenario = _scenario(text)
        config, queue, seed = scenario.config, scenario.queue, scenario.seed
    own = Half(OWN, config, queue, seed)
    a, b = (_half(posted, side, own) for side in ("a", "b"))
    return Wish(cast("Source", kind), name, text, a, b, _seconds(posted.get("until", DEFAULT_DURATION)))


def _scenario(text: str) -> tuple[str, Scenario]:
    if not text.strip():
        raise Unclear("text", gettext("Paste manifests first."))
    if len(text) > MAX_TEXT:
        raise Unclear("text", gettext("At most %(n)s characters.") % {"n": MAX_TEXT})
    try:
        try:
            return text, load_scenario(text)
        except ScenarioError:
            if "kind: Scenario" in text:
                raise
            return HEADER + text, load_scenario(HEADER + text)
    except (ValueError, ManifestError) as error:
        raise Unclear("text", str(error)) from None


def _half(posted: Mapping[str, str], side: str, own: Half) -> Half:
    preset = next((each for each in PRESETS if each.name == posted.get(side)), None)
    if preset is None:
        raise Unclear(side, gettext("Choose a scheduler."))
    config, queue = preset.config, preset.queue
    if preset.name == OWN:
        config, queue = own.config, own.queue
    elif preset.name == YAML:
        config, queue = _config(side, posted.get(f"{side}_yaml", "")), own.queue
    seed = posted.get(f"{side}_seed", "").strip()
    if seed and not (seed.isascii() and seed.isdecimal() and len(seed) < 10):
        raise Unclear(f"{side}_seed", gettext("The seed is a whole number."))
    return Half(preset.name, config, queue, int(seed) if seed else own.seed)


def _config(side: str, text: str) -> Manifest:
    try:
        found = manifests(text[:MAX_TEXT])
        if len(found) != 1 or found[0]["kind"] != "KubeSchedulerConfiguration":
            raise Unclear(f"{side}_yaml", gettext("One KubeSchedulerConfiguration is wanted."))
        load(found[0])
    except (ManifestError, ConfigError) as error:
        raise Unclear(f"{side}_yaml", str(error)) from None
    return found[0]


def _seconds(text: str) -> int:
    try:
        seconds = durations.parse(text.strip()) // SECOND
    except ValueError as error:
        raise Unclear("until", str(error)) from None
    if not 1 <= seconds <= MAX_SECONDS:
        raise Unclear("until", gettext("From 1s to 1h."))
    return seconds


def label(half: Half) -> str:
    return str(next((each.label for each in PRESETS if each.name == half.preset), half.preset))
