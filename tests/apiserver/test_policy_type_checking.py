"""The expressions of a ValidatingAdmissionPolicy are checked against the kinds that it matches."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.policies.type_checking import expression_warnings, kinds_to_check
from tests.apiserver.test_admission_policies import policy


def matching(group: str, version: str, *plurals: str) -> Manifest:
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["*"], "resources": [*plurals]}
    return {"matchConstraints": {"resourceRules": [rule]}}


def warnings(expression: str, *plurals: str, group: str = "apps", **spec: Any) -> list[Manifest]:
    return expression_warnings(policy(expression, **spec)["spec"] | matching(group, "v1", *plurals))


def test_a_field_that_is_not_there_is_warned_of_for_each_kind() -> None:
    def of(kind: str) -> str:
        return (
            f"apps/v1, Kind={kind}: ERROR: <input>:1:7: undefined field 'replicas'\n"
            " | object.replicas > 1\n | ......^\n"
        )

    assert warnings("object.replicas > 1", "replicasets", "deployments") == [
        {"fieldRef": "spec.validations[0].expression", "warning": f"{of('Deployment')}\n{of('ReplicaSet')}"}
    ]
    of_core = warnings("object.spec.none", "pods", group="")
    assert of_core[0]["warning"].startswith("/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'none'")


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas > 1 && object.spec.selector.matchLabels['a'] == 'b'",
        "object.metadata.namespace == 'a' && oldObject.metadata.labels.?a.orValue('') == ''",
        "object.spec.template.spec.containers.all(c, c.image == '' && has(c.securityContext.runAsUser))",
        "object.spec.template.spec.containers.exists(c, c.resources.limits['cpu'] == '1')",
        "object.spec.strategy.rollingUpdate.maxSurge == 1",
        "object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')",
        "request.userInfo.username == '' && namespaceObject.metadata.name == '' && variables.a == 1",
        "authorizer.requestResource.check('get').allowed()",
    ],
)
def test_valid_fields_cause_no_warning(expression: str) -> None:
    variables = [{"name": "a", "expression": "object.spec.replicas"}]
    assert warnings(expression, "deployments", variables=variables) == []


def test_types_that_do_not_fit_are_warned_of() -> None:
    (warning,) = warnings("object.spec.replicas == 'a'", "deployments")
    assert "found no matching overload for '_==_' applied to '(int, string)'" in warning["warning"]
    variables = [{"name": "a", "expression": "object.spec.replicas"}]
    (warning,) = warnings("variables.a.startsWith('a')", "deployments", variables=variables)
    assert "'startsWith' applied to 'int.(string)'" in warning["warning"]
    validation = {"messageExpression": "object.spec.none"}
    (warning,) = warnings("true", "deployments", validation=validation)
    assert warning["fieldRef"] == "spec.validations[0].messageExpression"
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    (warning,) = warnings("params.none == ''", "deployments", paramKind=kind)
    assert "undefined field 'none'" in warning["warning"]
    assert warnings("params.data.a == ''", "deployments", paramKind=kind) == []
    custom = {"apiVersion": "example.com/v1", "kind": "Widget"}
    assert warnings("params.none == ''", "deployments", paramKind=custom) == []


def test_kinds_that_are_not_named_are_not_checked() -> None:
    def kinds(group: str, version: str, *plurals: str) -> list[str]:
        return [each.kind for each in kinds_to_check(matching(group, version, *plurals))]

    assert kinds("*", "v1", "pods") == kinds("apps", "*", "deployments") == kinds("apps", "v1", "*") == []
    assert kinds("apps", "v1", "deployments/scale", "*/status") == kinds("example.com", "v1", "widgets") == []
    assert kinds("apps", "v1", "deployments", "daemonsets") == ["DaemonSet", "Deployment"]
    many = "configmaps", "endpoints", "limitranges", "namespaces", "nodes", "persistentvolumes", "pods"
    assert len(kinds("", "v1", *many, "podtemplates", "secrets", "services", "serviceaccounts")) == 10
