"""Fields of the pages' queries and forms, with valid and invalid values."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final
from urllib.parse import urlencode

from schedviz import bundled_scenarios
from schedviz.web.commands import COMMANDS
from schedviz.web.compare.form import PRESETS
from schedviz.web.forms import FORMS
from schedviz.web.ideas import texts as known_ideas
from simulator.apiserver.types.schema_types import type_of
from tests.programs.fuzz import bodies, objects, values

MADE: Final = tuple(f"made-{number}" for number in range(4))
"""Names of the sandboxes that requests create and delete."""

Choice = Callable[[Random], str]


def of(*known: str) -> Choice:
    return lambda rng: rng.choice(known)


def manifest(rng: Random) -> str:
    """YAML of an object, a changed one half of the time."""
    resource, given = rng.choice(objects.kinds())
    if rng.random() < 0.5:
        given = values.changed(rng, given, type_of(resource))
    text = bodies.yaml_of(values.bounded(given))
    return text if rng.random() < 0.9 else text[: rng.randrange(len(text) + 1)]


def configuration(rng: Random) -> str:
    """YAML of a KubeSchedulerConfiguration, a changed one mostly."""
    given = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 50,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 10,
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {
                    "multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": 5}]},
                    "score": {
                        "disabled": [{"name": "*"}],
                        "enabled": [{"name": "ImageLocality", "weight": 2}],
                    },
                    "permit": {"enabled": [{"name": "Gang"}]},
                },
                "pluginConfig": [
                    {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
                    {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 10}},
                    {
                        "name": "PodTopologySpread",
                        "args": {"defaultingType": "List", "defaultConstraints": []},
                    },
                ],
            }
        ],
        "extenders": [{"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "filter", "ignorable": True}],
    }
    if rng.random() < 0.7:
        del given["extenders"]
    return bodies.yaml_of(values.changed(rng, given, {}) if rng.random() < 0.8 else given)


def command(rng: Random) -> str:
    """A line of the command bar, with arguments and flags that may be wrong."""
    chosen = rng.choice(COMMANDS)
    words = [rng.choice((chosen.words, *chosen.also))]
    for argument in chosen.arguments:
        times = rng.randrange(3) if argument.optional or argument.repeated else 1
        words += [argument_of(rng) for _ in range(times)]
    words += [f"--{flag}={argument_of(rng)}" for flag in chosen.flags if rng.random() < 0.3]
    return " ".join(words)


def argument_of(rng: Random) -> str:
    return rng.choice((*ARGUMENTS, *values.NAMES, values.text(rng)))


ARGUMENTS: Final = (
    "pod", "nodes", "deployment", "pdb", "all", "pod/fuzz", "node/node-1", "deploy/fuzz", "-n", "--", "-o",
    "yaml", "key=value:NoSchedule", "key-", "app=web", "app-", "3", "cycle", "point", "bound", "0.1", "inf",
    "nan", "-1", "cpu=1,memory=1Gi", "default/fuzz", "zh", "dark", "is:pending", "'", '"a b"',
)  # fmt: skip

LOOKS: Final[dict[str, Choice]] = {
    "group": of("", "zone", "topology.kubernetes.io/zone", "disk", "a"),
    "q": of("", "app=web", "is:pending", "ns:default", "node-1", "cpu>1", "(", "a or b", "!a", '"'),
    "embed": of("", "queue", "queue,nodes", "a", ",,,"),
}

QUERIES: Final[dict[str, dict[str, Choice]]] = {
    "sandbox": LOOKS,
    "moment": LOOKS,
    "jump": {"seq": of("0", "5", "50", "99999", "9" * 20, "-1", "a", "")},
    "cycle": {
        "plugin": of("NodeResourcesFit", "TaintToleration", "a"),
        "node": of("node-1", "a"),
        "play": of("", "1"),
        "why": of("", "1"),
        "other": of("node-1", "node-2", "a"),
    },
    "predict": {"seen": of("runs.", "a")},
    "command-options": {"text": command},
    "objects": {"name": of("fuzz", "a", ""), "after": of("default/a", "a", "zzz")},
    "kinds": {"name": of("fuzz", "a", "%")},
    "what-if": {"part": of("", "1")},
    "nodes": {
        "sort": of("name", "-name", "cpu", "-pods", "a"),
        "page": of("1", "2", "0", "99999", "999999", "a"),
        "q": LOOKS["q"],
    },
    "compare": {
        "workload": of("scenario:gang", "sandbox:fuzz-0", "a:b:c"),
        "a": of("own", "a"),
        "until": of("1m", "a"),
    },
    "new": {
        "name": of("a", "b-"),
        "cpu": of("1", "a"),
        "priority_class": of("fuzz", "a"),
        "copies": of("3", "-1", "a"),
        "workload": of("Job", "a"),
    },
}

VERSION: Final = of("", "v1.36", "v1.34.1", "v1", "a" * 5000, "\0")
"""Versions of Kubernetes."""

POSTED: Final[dict[str, dict[str, Choice]]] = {
    "set-language": {
        "language": of("en", "zh-hans", "a", ""),
        "next": of("/", "/s/fuzz-0/", "//example.com", "a"),
    },
    "create-sandbox": {
        "scenario": lambda rng: rng.choice((*bundled_scenarios.scenarios(), "", "a")),
        "name": of(*MADE, "", "A b", "-", "a" * 64, "fuzz-0"),
        "queue": of("", "kubernetes", "v1.10", "fifo", "a"),
        "kubernetes": VERSION,
        "clock": of("", "paused", "a"),
    },
    "start-over": {"clock": of("", "paused", "a")},
    "compare": {
        "workload": of("scenario:gang", "sandbox:fuzz-0", "manifests:", "a", "sandbox:", "scenario:a"),
        "text": manifest,
        "a": lambda rng: rng.choice((*(each.name for each in PRESETS), "a")),
        "b": lambda rng: rng.choice((*(each.name for each in PRESETS), "a")),
        "a_yaml": configuration,
        "b_yaml": configuration,
        "a_kubernetes": VERSION,
        "b_gates": of("", "StorageCapacityScoring=true", "a", "a=b,c", "AllAlpha=1", "," * 5000),
        "a_seed": of("", "1", "-1", "a", "9" * 30, "9" * 5000),
        "until": of("5s", "1m", "0", "-1s", "9h", "a", ""),
    },
    "stop-comparison": {},
    "bring": {
        "do": of("look", "look", "bring"),
        "text": manifest,
        "name": of(*MADE, "", "A b"),
        "kubernetes": VERSION,
    },
    "workload": {
        "do": of("look", "look", "create"),
        "arrivals_text": of(
            "time,name,cpu\n0,a,1\n", "time,name\n0,A b\n", '{"time": 0}', "x", "", "0,0\n" * 500
        ),
        "nodes_text": of("name,cpu,memory\nn,4,8Gi\n", "name\n\x00", "", "a: [1"),
        "speed": of("1", "max", "paused", "-1", "a", ""),
        "anyway": of("", "1"),
        "name": of(*MADE, "", "A b"),
    },
    "start-idea": {},
    "branch": {"name": of(*MADE, "", "A b")},
    "delete-sandbox": {},
    "clock": {
        "do": of("pause", "resume", "resume", "point", "cycle", "until", "", "a"),
        "speed": of("1", "100", "0.1", "0", "-1", "101", "nan", "inf", "a", "1e999"),
        "until": of("nothing-pending", "preemption", "bound", "a", ""),
        "pod": of("fuzz", "default/fuzz", "", "a/b/c"),
    },
    "predict": {
        "do": of("begin", "guess", "go", "hold", "release", "reset", "a"),
        "question": of("1-node", "2-node", "a", "-"),
        "pick": of("node-1", "yes", "a"),
    },
    "command": {"text": command},
    "kill-leader": {},
    "break-watch": {},
    "new": {"do": of("step", "create", ""), "yaml": manifest, "drawn": manifest},
    "edit": {"do": of("step", "save", ""), "yaml": manifest, "drawn": manifest, "original": manifest},
    "paste": {"yaml": manifest},
    "scheduler": {
        "do": of("step", "apply", "add-profile", "gates", ""),
        "gate:StorageCapacityScoring": of("", "true", "false", "a"),
        "gate:NodeDeclaredFeatures": of("", "", "true", "false"),
        "gate:": of("", "", "true"),
        "yaml": configuration,
        "drawn": configuration,
        "original": configuration,
    },
    "delete-object": {},
    "delete-pod": {},
    "permit": {"word": of("approve", "reject", "a")},
    "what-if": {
        "do": of("ask", "ask", "stop", "apply", "branch", "a"),
        "number": of("0", "1", "-1", "9" * 5000),
        "id": of("a", ""),
    },
    "evicted": {"do": of("ask", "a")},
    "change-node": {
        "taint": of("key=value:NoSchedule", "key-", "a", "key=value:Sometimes", ":", ""),
        "label": of("a=b", "a-", "a b", "=", ",", "a=" + "b" * 100),
    },
}
"""The fields of the forms, by the names of their pages."""


ODD_TYPES: Final = (
    "application/json", "multipart/form-data", "multipart/form-data; boundary=", "a; charset=a",
)  # fmt: skip

ODD_FILES: Final = (
    b"", b"\x1f\x8b\x08\0\0", b"PK\3\4", b"\0" * 5000, b"[" * 9000, b'{"items": ' * 100,
    b'{"kind": "List", "apiVersion": "v1", "items": [5, null, {}]}',
)  # fmt: skip


@cache
def ideas() -> list[str]:
    return [*known_ideas.ideas(), "missing"]


@cache
def editor_fields() -> list[str]:
    """The fields of all forms for objects."""
    return sorted({field for form in FORMS.values() for field in form.base_fields})


def query(rng: Random, page: str) -> list[tuple[str, str]]:
    known = QUERIES.get(page, {})
    return [(name, _value(rng, choice)) for name, choice in known.items() if rng.random() < 0.4]


def form(rng: Random, page: str, base: str) -> tuple[list[tuple[str, str]], bytes]:
    """Headers and body."""
    given = [
        (name, _value(rng, choice)) for name, choice in POSTED.get(page, {}).items() if rng.random() < 0.7
    ]
    if page in ("new", "edit", "scheduler"):
        given += [(name, values.text(rng)[:5000]) for name in rng.sample(editor_fields(), rng.randrange(5))]
    if rng.random() < 0.05:
        given += [(values.text(rng)[:50], values.text(rng)) for _ in range(rng.choice((1, 1, 1200)))]
    rng.shuffle(given)
    if page == "bring" or rng.random() < 0.05:
        return multipart(rng, given)
    body = urlencode(given, errors="replace").encode()
    if rng.random() < 0.03:
        body = rng.choice((b"&&&", b"%", b"\xff\xfe", body[: len(body) // 2], b"a=" + b"%00" * 20))
    kind = "application/x-www-form-urlencoded"
    if rng.random() < 0.02:
        kind = rng.choice((*ODD_TYPES, f"{kind}; charset=utf-99", f"{kind}; charset=utf-16"))
    return [("Content-Type", kind)], body


def multipart(rng: Random, given: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], bytes]:
    """The same in multipart/form-data; some without their end."""
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{each}'.encode(errors="replace")
        for name, each in given
    ]
    if rng.random() < 0.7:
        content = rng.choice((manifest(rng).encode(errors="replace"), *ODD_FILES))
        disposition = 'Content-Disposition: form-data; name="dump"; filename="a.yaml"\r\n\r\n'
        parts.append(disposition.encode() + content)
    body = b"".join(b"--fuzz\r\n" + part + b"\r\n" for part in parts) + b"--fuzz--\r\n"
    if rng.random() < 0.05:
        body = body[: rng.randrange(len(body) + 1)]
    return [("Content-Type", "multipart/form-data; boundary=fuzz")], body


def _value(rng: Random, choice: Choice) -> str:
    return choice(rng) if rng.random() < 0.9 else values.text(rng)
