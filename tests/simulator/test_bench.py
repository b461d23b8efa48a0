"""The benchmark measures what it says: the decision, and with ``--record`` what the loop stores of it."""

import json
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.commands.bench import encode_record
from simulator.harness.bare_numpy import BareNodes
from simulator.harness.workloads import make_basic_pod, make_nodes
from simulator.scheduler.attempt_record import record
from simulator.trace import Filtered, Scored
from tests.amounts import long_but_first
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt
from tests.simulator.lab import Lab, node, pod


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["bench", "--nodes", "10", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_without_a_record_only_the_decision_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    [row] = rows(capsys, "--workload", "required-anti-affinity")
    assert (row["workload"], row["nodes"], row["attempts"]) == ("required-anti-affinity", 10, 8)
    assert not {"with_record", "record_bytes"} & row.keys()


def test_an_attempt_of_a_gang_is_one_of_a_member(capsys: pytest.CaptureFixture[str]) -> None:
    [row] = rows(capsys, "--workload", "gang-placements")
    assert (row["workload"], row["nodes"], row["attempts"]) == ("gang-placements", 10, 12 * 16)


def test_bare_numpy_finds_the_same_best_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    [row] = rows(capsys, "--workload", "bare-numpy")
    assert row["attempts_per_second"] > 0
    bare, cluster = BareNodes(12, 0), a_cluster([*make_nodes(12)])
    for number in range(40):
        made = attempt(cluster, make_basic_pod(number))
        assert bare.best().tolist() == sorted(made.best.tolist())
        bare.bind(int(made.best[0]))
        cluster.add_pod(made.pod.assumed(cluster.node(int(made.best[0])).name))


@pytest.mark.parametrize("workload", long_but_first(["preemption", "required-anti-affinity", "dra-shared"]))
def test_the_record_is_reported_beside_the_decision(
    capsys: pytest.CaptureFixture[str], workload: str
) -> None:
    [row] = rows(capsys, "--workload", workload, "--record")
    both = row["with_record"]
    assert isinstance(both, dict)
    assert 0 < both["attempts_per_second"] < row["attempts_per_second"]
    assert both["p50_ms"] > row["p50_ms"] > 0
    assert row["record_bytes"] > 1000


def test_the_table_has_the_decision_and_the_record_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--nodes", "10", "--workload", "required-anti-affinity", "--record"]) == 0
    titles, row = capsys.readouterr().out.splitlines()
    assert titles.count("attempts/s") == 2
    assert len(row) == len(titles)


def test_the_record_is_what_the_simulation_stores() -> None:
    lab = Lab()
    lab.create(*(node(f"n{number}", str(number)) for number in range(1, 5)), pod("web", "2"))
    lab.run(1)
    [decision] = lab.decisions
    [filtered], [scored] = lab.of(Filtered), lab.of(Scored)
    assert (filtered.nodes, filtered.feasible) == (len(decision.nodes), len(decision.feasible)) == (4, 3)
    assert filtered.reasons == {"Insufficient cpu": 1}
    assert (scored.node, scored.tied) == (decision.selected, len(decision.tied))
    assert scored.total == max(decision.totals)

    made = attempt(a_cluster([a_node("n1"), a_node("n2", "1")]), a_pod("web", "2"))
    texts = [json.loads(text) for text in encode_record(record(made), made)]
    assert [text.get("type") for text in texts] == [None, "Filtered", "Scored"]
    assert texts[0]["pod"] == "default/web"
    assert texts[0]["feasible"] == [0]
