"""The form of a comparison: its workloads, the schedulers to choose from, and the parsing of its fields."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz import bundled_scenarios
from schedviz.jobs.comparison_job import RECORDED, ComparisonRequest, RequestedSide, WorkloadSource
from schedviz.store import NoSandbox, Store, Unreadable
from schedviz.web.forms.all_faults import Fault, faults_of
from schedviz.web.forms.form_and_yaml import explain_faults
from schedviz.web.reasons.faults import Explanation, explain_cause
from schedviz.web.reasons.yaml_faults import explain_text
from simulator.api import SECOND, Manifest
from simulator.apiserver.manifest import ManifestError, parse_documents, parse_manifests
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.status import Cause, StatusError
from simulator.apiserver.value_causes import with_value
from simulator.command_line.version_options import parse_gates
from simulator.commands.run import START
from simulator.config import ConfigError
from simulator.objects import durations
from simulator.plugins.registry import load
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import API_VERSION, Scenario, ScenarioError, load_scenario
from simulator.versions.features import Features, chosen_features
from simulator.versions.kubernetes_version import V1_34_1, VERSIONS, UnknownVersion

MAX_TEXT: Final = 500_000
"""Maximum number of characters of pasted manifests: some thousand pods. A larger cluster must be imported as
a sandbox."""

MAX_GATES: Final = 20_000
"""Maximum number of characters of feature gates: those of all gates."""

MAX_SECONDS: Final = 3600
"""Maximum simulated duration, as that of the command line."""

DEFAULT_DURATION: Final = "3m"

HEADER: Final = f"apiVersion: {API_VERSION}\nkind: Scenario\nmetadata: {{name: pasted}}\n---\n"
"""The lines that are put before pasted manifests without a Scenario of their own."""

OWN: Final = "own"
YAML: Final = "yaml"


class Preset(NamedTuple):
    name: str
    label: str | Promise
    config: Manifest | None = None
    queue: QueueVersion = QueueVersion.KUBERNETES


def _configuration(profile: Manifest) -> Manifest:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


PRESETS: Final = (
    Preset(OWN, _("the workload's own")),
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
    Preset(
        "sampling",
        _("looks at a part of the nodes, as kube-scheduler"),
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": 0,
        },
    ),
    Preset("v1.10", _("default, with the queue of 1.10"), queue=QueueVersion.V1_10),
    Preset("fifo", _("default, with the FIFO queue (before 1.9)"), queue=QueueVersion.FIFO),
    Preset(YAML, _("the YAML below")),
    Preset(RECORDED, _("what was recorded, with its outside scheduler")),
)


class InvalidField(ValueError):
    """The value of a form field is invalid, for one or more reasons."""

    def __init__(self, field: str, *explained: Explanation) -> None:
        super().__init__("\n".join(each.text for each in explained))
        self.field = field
        self.explained = explained


def parse_comparison(store: Store, posted: Mapping[str, str]) -> ComparisonRequest:
    """Parse the posted form of a comparison.

    Fields: ``workload`` is ``scenario:NAME``, ``sandbox:NAME``, or ``manifests:`` with ``text``. ``a`` and
    ``b`` are names of presets, with optional ``a_yaml``, ``a_seed``, ``a_kubernetes`` and ``a_gates`` (as
    ``--feature-gates``), and those of b.
    ``until`` is a duration; "" = to the end of the recording. ``place_again``: "" = bound pods stay on their
    nodes.
    Raises InvalidField."""
    kind, _colon, name = posted.get("workload", "").partition(":")
    config: Manifest | None
    text = ""
    if kind == "sandbox":
        try:
            meta = store.sandbox(name).meta()
        except Unreadable as unreadable:
            raise InvalidField("workload", Explanation(str(unreadable))) from None
        except (NoSandbox, ValueError):
            message = gettext("There is no sandbox “%(name)s”.") % {"name": name}
            raise InvalidField("workload", Explanation(message)) from None
        config, queue, seed, features = meta.config, meta.queue, meta.seed, meta.features()
    else:
        if kind == "scenario" and name in bundled_scenarios.scenarios():
            text = (bundled_scenarios.FOLDER / f"{name}.yaml").read_text()
        elif kind == "manifests":
            text = posted.get("text", "")
        else:
            raise InvalidField("workload", Explanation(gettext("Choose a workload.")))
        text, scenario = _scenario(text)
        config, queue, seed, features = scenario.config, scenario.queue, scenario.seed, scenario.features
    own = RequestedSide(OWN, config, queue, seed, features.version.patch, features.gates)
    a, b = (parse_side(posted, side, own) for side in ("a", "b"))
    until = posted.get("until", DEFAULT_DURATION).strip()
    seconds = 0 if a.preset == RECORDED and not until else _duration_seconds(until)
    place_again = bool(posted.get("place_again"))
    if place_again and a.preset == RECORDED:
        raise InvalidField(
            "place_again", Explanation(gettext("In a recording the pods have the nodes that they got."))
        )
    return ComparisonRequest(cast("WorkloadSource", kind), name, text, a, b, seconds, place_again)


def _scenario(text: str) -> tuple[str, Scenario]:
    if not text.strip():
        raise InvalidField("text", Explanation(gettext("Paste manifests first.")))
    if len(text) > MAX_TEXT:
        raise InvalidField("text", Explanation(gettext("At most %(n)s characters.") % {"n": MAX_TEXT}))
    given, header = text, 0
    try:
        try:
            scenario = load_scenario(text)
        except ScenarioError:
            if "kind: Scenario" in text:
                raise
            text, header = HEADER + text, 1
            scenario = load_scenario(text)
        load(scenario.config, features=scenario.features)
        new_cluster(scenario.manifests, START, scenario.features)
    except ManifestError as error:
        raise InvalidField("text", explain_text(error)) from None
    except StatusError as error:
        # Without positions: a document of the text may be several objects.
        raise InvalidField("text", *explain_faults("", faults_of(error))) from None
    except ScenarioError as error:
        found = parse_documents(text)
        cause = with_value(found[error.document] if found else {}, error.field, error.problem)
        raise InvalidField("text", *explain_faults(given, [Fault(error.document - header, cause)])) from None
    except ConfigError as error:
        spec = parse_documents(text)[0]
        causes = [with_value(spec, f"spec.config.{path}", problem) for path, problem in error.causes]
        raise InvalidField("text", *explain_faults(given, [Fault(0, cause) for cause in causes])) from None
    return text, scenario


def parse_side(posted: Mapping[str, str], side: str, own: RequestedSide) -> RequestedSide:
    """Parse the fields of one side; see :func:`parse_comparison`. own: that of the workload. Raises
    InvalidField."""
    preset = next((each for each in PRESETS if each.name == posted.get(side)), None)
    if preset is None:
        raise InvalidField(side, Explanation(gettext("Choose a scheduler.")))
    if preset.name == RECORDED and (side != "a" or not posted.get("workload", "").startswith("sandbox:")):
        raise InvalidField(
            side, Explanation(gettext("Only A can be the recording, and only that of a sandbox."))
        )
    try:
        gates = parse_gates(posted.get(f"{side}_gates", "")[:MAX_GATES])
        features = chosen_features(own.features(), posted.get(f"{side}_kubernetes", ""), gates)
    except UnknownVersion as unknown:
        raise InvalidField(f"{side}_kubernetes", explain_cause(Cause("", str(unknown)))) from None
    except ValueError as wrong:  # among others FeatureGateError
        raise InvalidField(f"{side}_gates", explain_cause(Cause("", str(wrong)))) from None
    config, queue = preset.config, preset.queue
    if preset.name == OWN:
        config, queue = own.config, own.queue
    elif preset.name == YAML:
        config, queue = _config(side, posted.get(f"{side}_yaml", ""), features), own.queue
    seed = posted.get(f"{side}_seed", "").strip()
    if seed and not (seed.isascii() and seed.isdecimal() and len(seed) < 10):
        raise InvalidField(f"{side}_seed", Explanation(gettext("The seed is a whole number.")))
    return RequestedSide(
        preset.name,
        config,
        queue,
        int(seed) if seed else own.seed,
        features.version.patch,
        features.gates,
    )


def _config(side: str, text: str, features: Features) -> Manifest:
    try:
        found = parse_manifests(text[:MAX_TEXT])
        if len(found) != 1 or found[0]["kind"] != "KubeSchedulerConfiguration":
            raise InvalidField(
                f"{side}_yaml", Explanation(gettext("It must be one KubeSchedulerConfiguration."))
            )
        load(found[0], features=features)
    except ManifestError as error:
        raise InvalidField(f"{side}_yaml", explain_text(error)) from None
    except ConfigError as error:
        faults = [Fault(0, with_value(found[0], path, message)) for path, message in error.causes]
        raise InvalidField(f"{side}_yaml", *explain_faults(text, faults)) from None
    return found[0]


def _duration_seconds(text: str) -> int:
    try:
        seconds = durations.parse_duration(text) // SECOND
    except ValueError as error:
        raise InvalidField("until", explain_cause(Cause("", str(error)))) from None
    if not 1 <= seconds <= MAX_SECONDS:
        raise InvalidField("until", Explanation(gettext("From 1s to 1h.")))
    return seconds


def sides_of_form(
    given: Mapping[str, str], errors: Mapping[str, list[Explanation]], chosen: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the values of the template ``compare/side.html``, of each side. chosen: the presets with which
    the form begins."""
    return [
        {
            "name": name,
            "title": name.upper(),
            "chosen": given.get(name, preset),
            "presets": [each for each in PRESETS if name == "a" or each.name != RECORDED],
            "yaml": given.get(f"{name}_yaml", ""),
            "seed": given.get(f"{name}_seed", ""),
            "error": errors.get(name, []),
            "yaml_error": errors.get(f"{name}_yaml", []),
            "seed_error": errors.get(f"{name}_seed", []),
            "kubernetes": given.get(f"{name}_kubernetes", ""),
            "kubernetes_error": errors.get(f"{name}_kubernetes", []),
            "gates": given.get(f"{name}_gates", ""),
            "gates_error": errors.get(f"{name}_gates", []),
        }
        for name, preset in chosen.items()
    ]


OFFERED_VERSIONS: Final = [version.patch for version in (*VERSIONS, V1_34_1)]


def preset_label(side: RequestedSide) -> str:
    return str(next((each.label for each in PRESETS if each.name == side.preset), side.preset))
