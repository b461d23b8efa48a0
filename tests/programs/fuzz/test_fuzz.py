"""The fuzz itself: its requests, their repetition, and its short form."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from schedviz.api.accept import PROTOBUF, YAML
from schedviz.store import Store
from simulator.apiserver import resources
from simulator.apiserver.protobuf_encoding import encode_protobuf
from tests.apiserver.cluster import Cluster
from tests.processes import ROOT, Process
from tests.programs.fuzz import ROUND, objects
from tests.programs.fuzz.clients import Outcome, fault_text
from tests.programs.fuzz.findings import Findings, cause_of
from tests.programs.fuzz.generate import request
from tests.programs.fuzz.request import Request
from tests.programs.fuzz.rounds import Rounds, is_plain_error, rounds
from tests.stack import FAULT, RECORD, Log, Stack
from tests.waiting import eventually

LOG = """\
WARNING django.security.csrf: Forbidden (CSRF cookie not set.): /sandboxes/
ERROR schedviz.api.views: POST /s/fuzz-0/api/v1/pods
Traceback (most recent call last):
  File "/home/a/schedviz/api/views.py", line 73, in answering
  File "/home/a/.venv/lib/python3.11/site-packages/redis/client.py", line 5, in send
redis.exceptions.ResponseError: ERR Invalid stream ID
WARNING schedviz: slow
"""


def test_the_fuzz_begins_with_a_valid_object_of_each_kind() -> None:
    Cluster().create(objects.valid())
    known = {resource.id for resource, _ in objects.kinds()}
    assert {resource.id for resource in resources.BUILT_IN} <= known


def test_a_number_is_always_the_same_request() -> None:
    made = [request(7, number) for number in range(2_000)]
    assert made == [request(7, number) for number in range(2_000)]
    assert all(each.path.isascii() and " " not in each.path for each in made)
    assert {each.answer for each in made} == {"whole", "first", "none", "socket"}
    assert made[0] != request(8, 0)


def test_a_part_has_the_rounds_of_the_whole() -> None:
    whole = [*rounds(range(3 * ROUND))]
    assert [len(part) for part in whole] == [ROUND] * 3
    assert [*rounds(range(ROUND + 5, 2 * ROUND + 5))] == [whole[1][5:], whole[2][:5]]


def test_an_error_in_a_log_is_identified_by_its_type_and_our_line() -> None:
    (fault,) = [record for record in RECORD.split(LOG) if FAULT.search(record)]
    assert fault.partition("\n")[0] == "ERROR schedviz.api.views: POST /s/fuzz-0/api/v1/pods"
    assert cause_of(fault) == "redis.exceptions.ResponseError at schedviz/api/views.py:73"


def test_findings_of_one_cause_are_merged() -> None:
    findings = Findings(seed=5)
    for number in range(5):
        findings.add("500", "a text", only=number)
    findings.add("stopped loop", "a text", numbers=range(800, 1600))
    assert str(findings).splitlines() == [
        "5 x 500",
        *(f"    python -m tests.programs.fuzz --seed 5 --only {number}" for number in range(3)),
        "1 x stopped loop",
        "    python -m tests.programs.fuzz --seed 5 --first 800 --requests 800",
    ]


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (Outcome(200), ""),
        (Outcome(422), ""),
        (Outcome(503), ""),
        (Outcome(500), "500, server: redis.exceptions.ResponseError at schedviz/api/views.py:73"),
        (Outcome(0, trouble="no answer"), "no answer: POST"),
    ],
)
def test_an_answer_is_a_finding_with_its_error_in_the_log(
    store: Store, tmp_path: Path, outcome: Outcome, cause: str
) -> None:
    process = Process(["-c", f"import time; print({LOG!r}, flush=True); time.sleep(60)"], tmp_path / "log")
    eventually(lambda: LOG in process.output)
    findings = Findings(seed=5)
    rounds = Rounds(Stack(0, store, [Log("server", process)]), findings, 5, show=False)
    rounds.judge(Request(7, "POST", "/s/fuzz-0/api/v1/pods?dryRun=All"), outcome)
    process.kill()
    assert [*findings.found] == ([cause] if cause else [])


@pytest.mark.parametrize("reason", ["", "InternalError"])
def test_a_status_is_read_in_each_form(reason: str) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "code": 500} | ({"reason": reason} if reason else {})
    bodies = {
        "application/json": json.dumps(status).encode(),
        YAML: yaml.safe_dump(status).encode(),
        PROTOBUF: encode_protobuf(status),
    }
    for content_type, body in bodies.items():
        assert is_plain_error(Outcome(500, fault_text(body, content_type))) == (not reason), content_type


@pytest.mark.long
def test_a_round_of_the_fuzz_finds_nothing() -> None:
    command = [sys.executable, "-m", "tests.programs.fuzz", "--requests", str(ROUND)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-10_000:] + ended.stderr[-2_000:]
