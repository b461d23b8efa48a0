"""The status of a ValidatingAdmissionPolicy has the generation that was checked."""

from tests.apiserver.test_admission_policies import binding, policy
from tests.simulator.controllers.workloads import names, workload
from tests.simulator.lab import Lab, node

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"


def test_a_policy_is_observed() -> None:
    lab = Lab()
    lab.create(policy())
    lab.run(1)
    assert lab.api.objects[POLICIES]["p"]["status"] == {"observedGeneration": 1, "typeChecking": {}}
    lab.update(POLICIES, "p", lambda old: {**old, "metadata": {**old["metadata"], "generation": 2}})
    lab.run(1)
    assert lab.api.objects[POLICIES]["p"]["status"]["observedGeneration"] == 2


def test_expressions_with_wrong_types_are_warned_of() -> None:
    lab = Lab()
    wrong = policy("object.none == 1")
    wrong["spec"]["matchConstraints"]["resourceRules"][0] |= {"apiGroups": [""], "apiVersions": ["v1"]}
    lab.create(wrong)
    lab.run(1)
    (warning,) = lab.api.objects[POLICIES]["p"]["status"]["typeChecking"]["expressionWarnings"]
    assert warning == {
        "fieldRef": "spec.validations[0].expression",
        "warning": "/v1, Kind=Pod: ERROR: <input>:1:7: undefined field 'none'\n"
        " | object.none == 1\n | ......^\n",
    }


def test_policies_may_deny_creations_of_controllers() -> None:
    lab = Lab()
    lab.create(node("n1"), policy(validation={"message": "no pods"}), binding())
    lab.create(workload("ReplicaSet", replicas=2))
    lab.run(5)
    assert names(lab) == []
    [event] = lab.api.objects["events"].values()
    assert event["reason"] == "FailedCreate"
    assert event["message"].endswith(
        "is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no pods"
    )
