"""The work of a request grows no faster than the request: what takes 1 ms for ten entries of a list must not
take ten seconds for a thousand."""

import random

from simulator.apiserver.status import MAX_CAUSE_CHARACTERS, MAX_CAUSES
from tests.apiserver.cluster import Cluster, pod, refusal
from tests.costs.counting import MOST, growth_of
from tests.costs.requests import Case, cases

SAMPLE = 160
COUNT = 120
"""Entries of the smaller request."""
ONCE_SLOW = (
    "create pods spec.containers[].ports (least)",
    "create pods spec.containers[].ports (full)",
    "create pods spec.containers[].resources.claims (distinct)",
    "create pods spec.topologySpreadConstraints[].matchLabelKeys (least)",
    "create storageclasses.storage.k8s.io allowedTopologies (empty)",
    "strategic merge patch pods spec.containers (distinct)",
    "ordered strategic merge patch pods spec.imagePullSecrets (distinct)",
    "deleting strategic merge patch pods spec.containers[].ports (distinct)",
    "apply pods spec.containers[].env (distinct)",
)
"""Requests whose work once grew with the square of their size."""


def too_steep(case: Case, count: int) -> str:
    """What is wrong with the growth of a case; "" if nothing is."""
    growth = growth_of(case, count) or 0
    return f"{growth:.2f} times the calls for twice the entries: {case}" if growth >= MOST else ""


def test_a_sample_of_all_requests_grows_no_faster_than_its_lists() -> None:
    sample = random.Random(28).sample([*cases()], SAMPLE)
    assert [*filter(None, (too_steep(case, COUNT) for case in sample))] == []


def test_requests_that_were_once_slow_are_not() -> None:
    known = [case for case in cases() if str(case) in ONCE_SLOW]
    assert len(known) == len(ONCE_SLOW)
    assert [*filter(None, (too_steep(case, 3 * COUNT) for case in known))] == []


def test_the_faults_of_an_answer_are_bounded() -> None:
    claims = [{"name": f"a{number}", "resourceClaimName": "a"} for number in range(1_000)]
    used = [{"name": f"b{number}"} for number in range(1_000)]
    container = {"name": "main", "image": "web:1", "resources": {"claims": used}}
    refused = refusal(lambda: Cluster().create([pod(containers=[container], resourceClaims=claims)]))
    assert refused
    assert refused.causes[-1].message == "further faults are not listed"
    assert len(refused.message) < 2 * MAX_CAUSE_CHARACTERS
    labels = {f"a/{'-' * 70}{number}": "" for number in range(2 * MAX_CAUSES)}
    refused = refusal(lambda: Cluster().create([pod(nodeSelector=labels)]))
    assert refused
    assert len(refused.causes) == MAX_CAUSES + 1
