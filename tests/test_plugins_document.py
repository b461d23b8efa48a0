"""docs/PLUGINS.md is run: its classes as a package that is really installed, its configurations as they
stand there."""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from simulator.framework.interface import EXTENSION_POINTS, Plugin
from simulator.objects.pod import Pod
from simulator.plugins import registry
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import preemption
from simulator.simulation import Options
from simulator.trace import BindFailed
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt
from tests.simulator.lab import Lab, node, pod

TEXT = (Path(__file__).parent.parent / "docs" / "PLUGINS.md").read_text()
PLUGINS_CONFIG, EXTENDERS_CONFIG = (
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
)
SCORES = {"a": 10, "b": 40, "c": None}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with the document's plugins as an installed package; forgotten afterwards."""
    (tmp_path / "my_plugins.py").write_text("\n\n".join(blocks("python")))
    info = tmp_path / "my_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugins\nVersion: 1.0\n")
    [table] = blocks("toml")
    heading, _, points = table.partition("\n")
    assert heading == '[project.entry-points."schedviz.plugins"]'
    (info / "entry_points.txt").write_text(f"[schedviz.plugins]\n{points.replace(chr(34), '')}")
    monkeypatch.syspath_prepend(tmp_path)
    registry.registered.cache_clear()
    yield info
    registry.registered.cache_clear()
    sys.modules.pop("my_plugins", None)


@pytest.fixture
def installed(site: Path) -> Mapping[str, type[Plugin]]:
    return registry.registered()


def lit(name: str, lights: int | None) -> dict[str, object]:
    return a_node(name, labels={} if lights is None else {"example.com/lights": str(lights)})


def test_an_installed_plugin_does_nothing_until_a_profile_enables_it(
    installed: Mapping[str, type[Plugin]],
) -> None:
    assert {"BlinkingLights", "FreePorts"} <= installed.keys()
    assert "BlinkingLights" not in profiles(load(None))["default-scheduler"].plugins
    assert "BlinkingLights" in profiles(load(PLUGINS_CONFIG))["default-scheduler"].plugins


def test_blinking_lights_scores_are_normalised_and_weighted(installed: Mapping[str, type[Plugin]]) -> None:
    framework = profiles(load(PLUGINS_CONFIG))["default-scheduler"]
    search = attempt(a_cluster(lit(name, lights) for name, lights in SCORES.items()), a_pod("p"), framework)
    [column] = [column for column in search.scores if column.plugin == "BlinkingLights"]
    rows = [search.cluster.rows[name] for name in "abc"]
    order = [search.feasible.tolist().index(row) for row in rows]
    assert column.raw[order].tolist() == [10, 40, 0]
    assert column.normalized[order].tolist() == [25, 100, 0]
    assert column.weighted()[order].tolist() == [125, 500, 0]
    assert search.selected == search.cluster.rows["b"]


def test_the_scorer_in_columns_gives_the_same_scores(installed: Mapping[str, type[Plugin]]) -> None:
    by_column = sys.modules["my_plugins"].BlinkingLightsColumn
    both = [{"name": "BlinkingLights"}, {"name": "BlinkingLightsColumn"}]
    configuration = load({"profiles": [{"plugins": {"multiPoint": {"enabled": both}}}]})
    framework = profiles(configuration, {**installed, by_column.name: by_column})["default-scheduler"]
    cluster = a_cluster([lit(name, lights) for name, lights in SCORES.items()])
    cluster.remove_node("a")
    cluster.add_node(cluster.node(cluster.rows["b"]))
    search = attempt(cluster, a_pod("p"), framework)
    slow, fast = (c for c in search.scores if c.plugin.startswith("BlinkingLights"))
    assert slow.raw.tolist() == fast.raw.tolist()
    assert sorted(slow.raw.tolist()) == [0, 40]


def test_the_ports_filter_does_what_the_in_tree_one_does_in_preemption_too(
    installed: Mapping[str, type[Plugin]],
) -> None:
    def attempt_result(config: object, name: str) -> tuple[dict[str, str], str | None, list[str]]:
        cluster = a_cluster(
            [a_node("a"), a_node("b")], [with_port("q", 80, 0, "a"), with_port("r", 80, 20, "b")]
        )
        search: Attempt = attempt(
            cluster, with_port("p", 80, 10), profiles(load(config))["default-scheduler"]
        )
        statuses = {node: search.diagnosis.status_of(node) for node in "ab"}
        assert {status.plugin for status in statuses.values() if status} == {name}
        found = preemption(search)
        victims = [v.pod for c in found.candidates for v in c.victims] if found else []
        return {n: s.code for n, s in statuses.items() if s}, search.nominated_node, victims

    mine = attempt_result(PLUGINS_CONFIG, "FreePorts")
    assert mine == attempt_result(None, "NodePorts")
    assert mine == ({"a": "Unschedulable", "b": "Unschedulable"}, "a", ["default/q"])
    search = attempt(
        a_cluster([a_node("a")]), a_pod("p"), profiles(load(PLUGINS_CONFIG))["default-scheduler"]
    )
    assert search.pre_filter is not None
    assert "FreePorts" in search.pre_filter.skipped


def test_the_ports_filter_registers_what_frees_a_port(installed: Mapping[str, type[Plugin]]) -> None:
    registered = profiles(load(PLUGINS_CONFIG))["default-scheduler"].events_to_register()["FreePorts"]
    assert [each.event.label for each in registered] == ["PodDelete", "NodeAdd"]
    waiting, same, other = (
        Pod.parse(with_port(name, port, 0)) for name, port in (("p", 80), ("q", 80), ("r", 81))
    )
    assert registered[0].hint(waiting, same, None)
    assert not registered[0].hint(waiting, other, None)


def test_pods_beyond_the_seats_of_the_licence_are_not_bound(installed: Mapping[str, type[Plugin]]) -> None:
    config = {
        "profiles": [
            {
                "plugins": {"multiPoint": {"enabled": [{"name": "Licence"}]}},
                "pluginConfig": [{"name": "Licence", "args": {"seats": 1}}],
            }
        ]
    }
    lab = Lab(Options(config=config), plugins=installed)
    labels = {"example.com/licence": "yes"}
    lab.create(
        node("n1"), *(pod(name) | {"metadata": {"name": name, "labels": labels}} for name in "ab"), pod("c")
    )
    lab.run(5)
    assert [lab.node_of(name) for name in "abc"] == ["n1", "", "n1"]
    failed = lab.of(BindFailed)[0]
    assert failed.message == 'running PreBind plugin "Licence": all 1 seats are taken'


def test_a_node_is_prepared_before_the_first_pod_with_a_licence(
    installed: Mapping[str, type[Plugin]],
) -> None:
    config = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Prepared"}]}}}]}
    lab = Lab(Options(config=config), plugins=installed)
    labels = {"example.com/licence": "yes"}
    lab.create(node("n1"), pod("a") | {"metadata": {"name": "a", "labels": labels}}, pod("b"))
    lab.run(2)
    assert [lab.node_of(name) for name in "ab"] == ["", "n1"]
    lab.run(1)
    assert lab.node_of("a") == "n1"
    assert lab.api.objects["nodes"]["n1"]["metadata"]["labels"]["example.com/prepared"] == "yes"


def with_port(name: str, port: int, priority: int, on: str = "") -> dict[str, object]:
    container = {"name": "c", "ports": [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]}
    spec = {"nodeName": on} if on else {}
    return a_pod(name, priority=priority, **spec) | {
        "spec": {"priority": priority, "containers": [container], **spec}
    }


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("x = my_plugins:default_normalize_score", r"entry point 'x' \(.*\) is not a plugin class"),
        ("x = simulator.plugins.node_name:NodeName", "a plugin named 'NodeName' already exists"),
        ("x = my_plugins:Nothing", "Nothing"),
    ],
)
def test_a_broken_installation_does_not_go_unnoticed(site: Path, entry: str, error: str) -> None:
    (site / "entry_points.txt").write_text(f"[schedviz.plugins]\n{entry}\n")
    with pytest.raises((TypeError, ValueError, AttributeError), match=error):
        registry.registered()


def test_every_extension_point_is_in_the_table() -> None:
    for kind in EXTENSION_POINTS.values():
        assert f"`{kind.__name__}`" in TEXT


def test_the_extenders_example_is_a_valid_configuration() -> None:
    [extender] = load(EXTENDERS_CONFIG).extenders
    assert (extender.filter_verb, extender.weight, extender.node_cache_capable) == ("filter", 1, True)
