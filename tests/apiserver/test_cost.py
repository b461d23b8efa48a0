"""The work of a request grows no faster than the request: what takes 1 ms for ten entries of a list must not
take ten seconds for a thousand. ``make fuzz PART=cost`` measures all requests."""

import json

import pytest

from schedviz.store import Store
from simulator.apiserver.bounds import MAX_SHOWN_KEY, MAX_STRICT_ERRORS
from simulator.apiserver.custom_resources.coercion import prune
from simulator.apiserver.custom_resources.schema_validation import schema_faults
from simulator.apiserver.request_decoding.decode_request import decode_request
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.status import MAX_CAUSE_CHARACTERS, MAX_CAUSES, first_causes
from tests.apiserver.cluster import Cluster, pod, refusal
from tests.programs.costs.cases import Case, crowd_cases, growing_cases, sample
from tests.programs.costs.counting import calls_of
from tests.programs.costs.growing_objects import GROWING

SEED = 28
ONE_CROWD_OF = 7
"""So that all tests of this file take less than 15 s of CPU."""
ONCE_SLOW = (
    "create pods spec.containers[].ports (least)",
    "create pods spec.containers[].ports (full)",
    "create pods spec.containers[].resources.claims (distinct)",
    "create pods spec.topologySpreadConstraints[].matchLabelKeys (least)",
    "create storageclasses.storage.k8s.io allowedTopologies (empty)",
    "create jobs.batch spec.template.metadata.ownerReferences (empty)",
    "strategic merge patch pods spec.containers (distinct)",
    "ordered strategic merge patch pods spec.imagePullSecrets (distinct)",
    "deleting strategic merge patch pods spec.containers[].ports (distinct)",
    "apply pods spec.containers[].env (distinct)",
)
"""Requests whose work once grew with the square of their size, or was too much."""


def wrong_ones(store: Store, cases: list[Case]) -> list[str]:
    """Return what is wrong with the calls of each case, where something is."""
    counted = ((case, calls_of(store, case)) for case in cases)
    return [f"{calls.wrong}: {case.name}" for case, calls in counted if calls and calls.wrong]


@pytest.mark.long
def test_a_sample_of_all_requests_grows_no_faster_than_its_lists(store: Store) -> None:
    cases = sample(len(GROWING), SEED)
    assert {case.growing.resource for case in cases} == {*GROWING}
    assert wrong_ones(store, [*cases]) == []


def test_requests_that_were_once_slow_are_not(store: Store) -> None:
    known = [case for case in growing_cases() if case.name in ONCE_SLOW]
    assert len(known) == len(ONCE_SLOW)
    assert wrong_ones(store, [*known]) == []


@pytest.mark.long
def test_requests_with_many_objects_grow_no_faster_than_these(store: Store) -> None:
    assert wrong_ones(store, [*crowd_cases()[::ONE_CROWD_OF]]) == []


def test_unknown_and_repeated_fields_are_bounded() -> None:
    unknown = {f"a{number}": 1 for number in range(2 * MAX_STRICT_ERRORS)}
    (config_maps,) = (each for each in BUILT_IN if each.kind == "ConfigMap")
    text = json.dumps({"metadata": {"name": "a"}, **unknown}).encode()
    assert len(decode_request(config_maps, text, is_yaml=False).strict_errors) == MAX_STRICT_ERRORS
    assert len(prune({"type": "object"}, unknown).unknown) == MAX_STRICT_ERRORS
    (path,) = prune({"additionalProperties": {"type": "object"}}, {"a" * 10_000: {"b": 1}}).unknown
    assert len(path) < 2 * MAX_SHOWN_KEY


def test_the_faults_of_an_answer_are_bounded() -> None:
    claims = [{"name": f"a{number}", "resourceClaimName": "a"} for number in range(1_000)]
    used = [{"name": f"b{number}"} for number in range(1_000)]
    container = {"name": "main", "image": "web:1", "resources": {"claims": used}}
    refused = refusal(lambda: Cluster().create([pod(containers=[container], resourceClaims=claims)]))
    assert refused
    assert refused.causes[-1].message == "further faults are not listed"
    assert len(refused.message) < 2 * MAX_CAUSE_CHARACTERS
    wrong = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
    long_paths = first_causes(schema_faults(wrong, {"a" * (2 * MAX_CAUSE_CHARACTERS): [1] * 10}))
    assert sum(len(cause.field) + len(cause.message) for cause in long_paths) < MAX_CAUSE_CHARACTERS
    labels = {f"a/{'-' * 70}{number}": "" for number in range(2 * MAX_CAUSES)}
    refused = refusal(lambda: Cluster().create([pod(nodeSelector=labels)]))
    assert refused
    assert len(refused.causes) == MAX_CAUSES + 1
