"""Arrivals files: what is read of them, what is refused, and that they are played as written."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import pytest

from simulator.__main__ import main
from simulator.api import SECOND, Micros
from simulator.apiserver.resources import NODES, PODS
from simulator.arrivals.arrival import Arrival, ArrivalError, encode
from simulator.arrivals.play_run import Played, PlayRun
from simulator.arrivals.read import read_bytes, read_file, read_nodes_file
from simulator.arrivals.workload import PlayedWorkload, make_workload, played_scenario
from simulator.compare.comparison_run import Side, SideRun
from simulator.compare.workload import ComparedWorkload
from simulator.memory_sandbox import START
from simulator.objects.node import Node
from simulator.objects.pod import Pod

NODES_CSV = b"name,cpu,memory,count,zone\nnode,4,16Gi,3,zone-a\n"
ARRIVALS_CSV = b"""\
time,name,cpu,memory,priority,duration,count,owner,labels
0,web,500m,1Gi,100,1m,4,Deployment,app=web;tier=front
5,train,2,4Gi,,30s,6,Job/train,
1m5s,solo,1,1Gi,1000,20,2,,team=a
"""
OPENB = b"""\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-1,4000,8192,1,220,nan,LS,Running,9437497,9437597,9437507
pod-2,88000.0,327680,8,1000,G2|T4,Burstable,Succeeded,9437500,,
"""
OPENB_NODES = b"sn,cpu_milli,memory_mib,gpu,model\nopenb-1,96000,393216,8,G2\nopenb-2,32000,131072,0,nan\n"


def workload(arrivals: bytes, nodes: bytes = NODES_CSV, pace: Micros = SECOND // 100) -> PlayedWorkload:
    made = played_scenario("played", pace, 1)
    return make_workload(read_bytes(arrivals).arrivals, read_nodes_file(nodes) if nodes else [], made)


def play(arrivals: bytes, nodes: bytes = NODES_CSV, seconds: int = 200) -> Played:
    playing = PlayRun(workload(arrivals, nodes), [Side(seed=1)], seconds * SECOND)
    assert [*playing.run()]
    return playing.result()


def random_arrivals(random: Random) -> bytes:
    lines = ["time,name,cpu,memory,duration,count,priority"]
    for number in range(12):
        cpu, memory = random.choice(["500m", "1", "2"]), random.choice(["1Gi", "3Gi"])
        time, duration = random.randrange(30), random.choice(["", "7s", "20"])
        row = (
            time,
            f"pod-{number}",
            cpu,
            memory,
            duration,
            random.choice([1, 1, 3]),
            random.choice([0, 0, 10]),
        )
        lines.append(",".join(map(str, row)))
    return "\n".join(lines).encode()


def test_a_line_becomes_pods_or_the_workload_that_makes_them() -> None:
    web, train, solo = read_bytes(ARRIVALS_CSV).arrivals
    assert (train.time, train.duration, train.owner, train.count) == (5 * SECOND, 30 * SECOND, "Job", 6)
    assert [(time, what, each["kind"]) for time, what, each in web.entries()] == [
        (0, "create", "Deployment"),
        (60 * SECOND, "delete", "Deployment"),
    ]
    names = [each["metadata"]["name"] for _, _, each in solo.entries()]
    assert names == ["solo-1", "solo-2"]
    assert solo.time == 65 * SECOND
    played = play(ARRIVALS_CSV, seconds=100)
    assert played.pods == 12
    assert played.a.bound == 12
    curves = {curve.name: curve for curve in played.a.curves}
    # With the four web pods, each of the three nodes has room for one pod of 2 cpu: three have to wait.
    assert curves["requested:cpu"].peak == 66.67
    assert curves["pending:Insufficient cpu"].peak == 3
    assert curves["requested:cpu"].last == 0  # the Deployment was deleted, all others have ended


@pytest.mark.parametrize("seed", range(2))
def test_a_converted_file_is_the_same_workload_and_two_runs_are_the_same(seed: int) -> None:
    arrivals = random_arrivals(Random(seed))
    nodes = [Arrival(0, object=node) for node in read_nodes_file(NODES_CSV)]
    lines = [encode(each) for each in (*nodes, *read_bytes(arrivals).arrivals)]
    converted = b"\n".join(lines)
    first = msgspec.json.encode(play(arrivals, seconds=60))
    assert first == msgspec.json.encode(play(arrivals, seconds=60))
    assert first == msgspec.json.encode(play(converted, b"", seconds=60))


@pytest.mark.parametrize("seed", range(2))
def test_the_curve_of_a_resource_is_the_sum_of_the_requests_of_bound_pods(seed: int) -> None:
    made = workload(random_arrivals(Random(seed)))
    compared = ComparedWorkload(made.cluster(START), START, 0)
    end = START + 25 * SECOND
    run = SideRun(compared, Side(seed=1), end, {})
    while not run.over:
        run.step()
    objects = run.objects()
    pods = [Pod.parse(each) for each in objects[PODS.id].values()]
    requested = sum(pod.own_requests["cpu"] for pod in pods if pod.node_name and not pod.finished)
    there = sum(Node.parse(each).allocatable["cpu"] for each in objects[NODES.id].values())
    curve = run.observer.outcome(end).curve("requested:cpu")
    assert curve is not None
    assert curve.last == pytest.approx(100 * requested / there, abs=0.01)
    assert requested


HEAD = b"time,name,cpu,count,owner,labels,duration\n"
WEB = b'{"time": 0, "name": "web", "cpu": "1", "owner": "Deployment", "count": 2}\n'


def change(name: str, replicas: int) -> bytes:
    named = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    return msgspec.json.encode(
        {"time": 9, "change": True, "object": named | {"spec": {"replicas": replicas}}}
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HEAD + b"0,a,1,1,,,\n5,b,12x,1,,,\n", "line 3, column cpu: '12x': unable to parse quantity"),
        (HEAD + b"0,a,-1,1,,,\n", "line 2, column cpu: '-1' is less than 0"),
        (HEAD + b"soon,a,1,1,,,\n", "line 2, column time: 'soon' is not a duration"),
        (HEAD + b",a,1,1,,,\n", "line 2, column time: missing"),
        (b"name,creation_time\na,\n", "line 2, column creation_time: missing"),
        (HEAD + b"-3,a,1,1,,,\n", "line 2, column time: before the beginning"),
        (HEAD + b"inf,a,1,1,,,\n", "line 2, column time: 'inf' is not a number"),
        (HEAD + b"0,Web_1,1,1,,,\n", "line 2, column name: 'Web_1': a lowercase"),
        (HEAD + b"0,a,1,0,,,\n", "line 2, column count: '0' is not from 1 to"),
        (HEAD + b"0,a,1,1.5,,,\n", "line 2, column count: '1.5' is not a whole number"),
        (HEAD + b"0,a,1,1,CronJob,,\n", "line 2, column owner: 'CronJob' is not one of"),
        (HEAD + b"0,a,1,1,,app,\n", "line 2, column labels: 'app' is not of the form"),
        (HEAD + b"0,a,1,1,,a b=c,\n", "line 2, column labels: 'a b'"),
        (HEAD + b"0,a,1,1,,,-5\n", "line 2, column duration: '-5' is not from 0"),
        (HEAD + b"0,a,1,1,,\n", "line 2, column duration: 6 columns, but the header has 7"),
        (HEAD + b"0,a,1,1,,,\n1,a,1,1,,,\n", "line 3, column name: there are two of kind Pod named a, as in"),
        (b"time,name,cpus\n0,a,1\n", "line 1, column 'cpus': unknown; the columns are"),
        (b"time,cpu,cpu\n", "line 1, column cpu: the column is there twice"),
        (b"what is this\n", "line 1: it is no header"),
        (b"time,name\n0,\xff\n", "line 2: the text is no UTF-8"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (HEAD, "the file has no arrivals"),
        (HEAD.replace(b",", b";") + b"0;a;1;1;;;\n", "line 1: the columns are separated by ';'"),
        (HEAD.replace(b",", b"\t"), "line 1: the columns are separated by '\\t'"),
        (HEAD + b'0,"a\nb",1,1,,,\n', "line 3, column name: 'a\\nb': a lowercase"),
        (HEAD + b"0,a,1,inf,,,\n", "line 2, column count: 'inf' is not a whole number"),
        (HEAD + b"0,a,1,1,,,1e9\n", "line 2, column duration: '1e9' is not from 0 to a year"),
        ((HEAD + b"0,a,x,1,,,\n").decode().encode("utf-16"), "line 2, column cpu: 'x'"),
        ((HEAD + b"0,a,x,1,,,\n").replace(b"\n", b"\r\n"), "line 2, column cpu: 'x'"),
        (b"PK\x03\x04", "a zip archive; unpack it before"),
        (b"name,num_gpu\na,-1\n", "line 2, column num_gpu: '-1' is not from 0 to 1,000"),
        (b"name,num_gpu,gpu_milli\na,1,1500\n", "line 2, column gpu_milli: '1500' is not from 0 to"),
        (b"name,creation_time,deletion_time\na,5,1e9", "line 2, column deletion_time: more than a year"),
        (b'[{"time": 0}]', "line 1: a list; JSON Lines have one object a line"),
        (b'{"apiVersion": "v1", "kind": "List"}', "line 1: a manifest; an arrival has it as"),
        (b'{"time": true}', "line 1, column time: True is not a number"),
        (b'{"time": %d}' % 10**400, "line 1, column time: int too large"),
        (b'{"time": 0, "object": {"metadata": {}}, "delete": "no"}', "line 1, column delete: 'no' is"),
        (change("web", 3), "line 1, column object: there is no Deployment web to change"),
        (WEB + change("web", -1), "line 2, column object: web: Deployment"),
        (b"kind: a\nb: action.kwok.x-k8s.io\n", "document 1: no manifest with apiVersion, kind and"),
        (b'{"time": 0, "name": "a"}\n{"time": 0, "nam": "a"}', "line 2, column 'nam': unknown field"),
        (b'{"time": 0}\n{"time": ', "line 2: no JSON"),
        (b'{"time": 0, "requests": {"cpu": "x"}}', "line 1, column requests.cpu: 'x'"),
        (b'{"time": 0, "object": {"kind": "Pod"}}', "line 1, column object: no manifest"),
        (
            b'{"time": 1, "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}',
            "line 1, column object: a: Pod",
        ),
        (b"time,name,priority\n0,a,none-such\n", "line 2: a: pods \"a\" is forbidden: no PriorityClass"),
        (b"time\n2025-01-01T00:00:00Z\n2028-01-01T00:00:00Z", "line 3, column time: more than"),
        (b"\x1f\x8bnot gzip", "cannot be unpacked"),
        (gzip.compress(b"time,name\n" + b"0,a\n" * 99, mtime=0)[:-20], "cannot be unpacked"),
        (b"\x83\xa7version\x01", "no trace of SimKube"),
        (b'{"pods": 5, "nodes": []}', "no export of kube-scheduler-simulator"),
        (b'{"time": "x", "event": "Add", "resource": {}}', "line 1: no record"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_with_its_column(data: bytes, message: str) -> None:
    with pytest.raises(ArrivalError) as caught:
        workload(data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"name,cpu,memory\na,1,1Gi\na,1,1Gi\n", "line 3, column name: there are two nodes a"),
        (b"name,cpu,memory,gpus\na,1,1Gi,2\n", "line 1, column 'gpus': unknown"),
        (b"name,cpu,memory,taints\na,1,1Gi,x\n", "line 2, column taints: 'x' is not of the form"),
        (b"name,cpu,memory,taints\na,1,1Gi,x=y:Never\n", "Node"),
    ],
)
def test_a_bad_node_is_named(data: bytes, message: str) -> None:
    with pytest.raises(ArrivalError) as caught:
        workload(ARRIVALS_CSV, data)
    assert message in str(caught.value)


def test_what_cannot_fit_is_said_before_it_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrivals, nodes = tmp_path / "a.csv", tmp_path / "n.csv"
    arrivals.write_text(
        "time,name,cpu,count,node_labels\n0,a,1,1,\n1,b,64,3,\n2,c,1,1,topology.kubernetes.io/zone=zone-b\n"
    )
    nodes.write_bytes(NODES_CSV)
    assert main(["play", str(arrivals), "--nodes", str(nodes), "--until", "1m", "-o", "json"]) == 0
    out, err = capsys.readouterr()
    assert "4 of 5 pods fit no node, not even an empty one: line 3: b: 0/3 nodes are available" in err
    assert "(and 1 more arrivals)" in err
    assert msgspec.json.decode(out)["a"]["bound"] == 1
    with pytest.raises(ArrivalError, match="the workload has no node"):
        workload(b"time,name\n0,a\n", b"")


def test_a_pod_that_fits_a_node_that_comes_later_is_not_said_to_fit_none() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "large"}}
    node |= {"status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "9"}}}
    lines = [Arrival(0, "a", requests={"cpu": "32"}), Arrival(5 * SECOND, object=node)]
    made = workload(b"\n".join(map(encode, lines)))
    assert not made.unfit


def test_the_pods_and_nodes_of_openb_are_read_as_they_are() -> None:
    first, second = read_bytes(OPENB).arrivals
    assert (first.time, first.duration, second.time, second.duration) == (0, 90 * SECOND, 3 * SECOND, None)
    assert first.requests == {"cpu": "4", "memory": "8Gi", "alibabacloud.com/gpu-milli": "220"}
    assert second.requests == {"cpu": "88", "memory": "320Gi", "alibabacloud.com/gpu-milli": "8000"}
    assert second.node_labels == {"alibabacloud.com/gpu-card-model": ["G2", "T4"]}
    assert first.labels == {"qos": "LS"}
    played = play(OPENB, OPENB_NODES, seconds=150)
    assert (played.a.bound, played.pods) == (2, 2)
    requested = played.a.curve("requested:alibabacloud.com/gpu-milli")
    assert requested is not None
    assert requested.peak == 100  # 8,000 of 8,000, and the share of a GPU waits until it has ended


def test_the_azure_trace_is_read_for_one_kind_of_machine(tmp_path: Path) -> None:
    path = tmp_path / "packing.sqlite"
    with closing(sqlite3.connect(path)) as trace, trace:
        trace.execute("CREATE TABLE vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)")
        trace.execute("CREATE TABLE vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)")
        types = [
            (1, 7, 3, 0.25, 0.5, None, 0.1, 0.1),
            (2, 8, 3, 0.5, 0.25, None, 0, 0),
            (3, 9, 4, 1, 1, 1, 1, 1),
        ]
        trace.executemany("INSERT INTO vmType VALUES (?, ?, ?, ?, ?, ?, ?, ?)", types)
        vms = [
            (10, 1, 7, 1, -2.0, 0.5),
            (11, 2, 8, 0, 0.25, None),
            (12, 2, 9, 0, 0, 1),
            (13, 2, 7, 0, -3, -1),
        ]
        trace.executemany("INSERT INTO vm VALUES (?, ?, ?, ?, ?, ?)", vms)
    there, later = read_file(path).arrivals
    # Of the trace's priorities, 1 is the low one.
    assert (there.name, there.time, there.duration, there.priority) == ("vm-10", 0, 43_200 * SECOND, -1)
    assert there.requests == {"cpu": "25000m", "memory": "51200Mi", "ephemeral-storage": "10240Mi"}
    assert (later.name, later.time, later.duration) == ("vm-11", 21_600 * SECOND, None)
    assert [each.name for each in read_file(path, machine=4).arrivals] == ["vm-12"]
    path.write_bytes(b"SQLite format 3\0" + b"x" * 100)
    with pytest.raises(ArrivalError, match="no Azure trace"):
        read_file(path)


def test_a_file_without_times_is_played_at_its_beginning() -> None:
    read = read_bytes(b"name,cpu_milli,num_gpu,gpu_milli\na,100,1,460\nb,100,2,1000\n")
    assert [each.time for each in read.arrivals] == [0, 0]
    assert [each.requests["alibabacloud.com/gpu-milli"] for each in read.arrivals] == ["460", "2000"]
    [note] = read.notes
    assert note.startswith("1 pods request a share of a GPU")


def test_two_configurations_are_played_beside_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrivals, nodes = tmp_path / "a.csv", tmp_path / "n.csv"
    arrivals.write_bytes(ARRIVALS_CSV)
    nodes.write_bytes(NODES_CSV)
    asked = ["play", str(arrivals), "--nodes", str(nodes), "--until", "30s"]
    assert main([*asked, "--seed-b", "2"]) == 0
    assert "B - A" in capsys.readouterr().out
    assert main([*asked, "--convert"]) == 0
    converted = tmp_path / "c.jsonl"
    converted.write_text(capsys.readouterr().out)
    assert len(converted.read_text().splitlines()) == 6
    assert main(["play", str(converted), "--until", "30s"]) == 0
    assert "pods bound" in capsys.readouterr().out
    assert main(["play", str(tmp_path / "none.csv")]) == 1
    assert "No such file" in capsys.readouterr().err
    assert main(["play", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"play: {tmp_path}: Is a directory\n"
