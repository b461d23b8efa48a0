"""ValidatingAdmissionPolicies deny, or warn of, requests that match their bindings."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver import admission
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.policies.enforcement import PolicyDenied, check_policies
from simulator.apiserver.policies.request import Asked, controller_user, deletion_request
from simulator.apiserver.resources import PODS, Resource, find_built_in
from simulator.apiserver.update import admit_update
from tests.api.widget_definition import definition, version
from tests.apiserver.cluster import NOW, Cluster, pod
from tests.simulator.controllers.workloads import workload

GROUP = "admissionregistration.k8s.io/v1"


def rule(*resources: str, operations: tuple[str, ...] = ("*",), **fields: Any) -> Manifest:
    given = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": [*resources], "operations": [*operations]}
    return {**given, **fields}


def policy(
    expression: str = "false", *, resources: tuple[str, ...] = ("pods",), name: str = "p", **spec: Any
) -> Manifest:
    """``message`` and the like in ``validation`` go to its one validation."""
    validation = {"expression": expression, **spec.pop("validation", {})}
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule(*resources)], **spec.pop("match", {})},
            "validations": [validation],
            **spec,
        },
    }


def binding(
    name: str = "b", policy_name: str = "p", actions: tuple[str, ...] = ("Deny",), **spec: Any
) -> Manifest:
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": policy_name, "validationActions": [*actions], **spec},
    }


def guarded(*manifests: Manifest) -> Cluster:
    cluster = Cluster()
    for manifest in manifests:
        cluster.create([manifest])
    return cluster


def denied(cluster: Cluster, *manifests: Manifest, asked: Asked | None = None) -> str:
    """The message with which the creation of these is denied; "" if it is not."""
    try:
        admission.admit([*manifests], cluster, NOW, source="test", asked=asked)
    except PolicyDenied as error:
        return str(error)
    return ""


BY = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request:"


def test_a_denial_has_the_message_of_the_api_server() -> None:
    cluster = guarded(policy("object.spec.containers.size() > 5"), binding())
    with pytest.raises(PolicyDenied) as error:
        cluster.create([pod()])
    detail = f"{BY} failed expression: object.spec.containers.size() > 5"
    assert error.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'pods "web" is forbidden: {detail}',
        "reason": "Invalid",
        "details": {"name": "web", "kind": "pods", "causes": [{"message": detail}]},
        "code": 422,
    }


@pytest.mark.parametrize(
    ("validation", "code", "message"),
    [
        ({"message": " too small "}, 422, "too small"),
        ({"reason": "Forbidden", "message": "no"}, 403, "no"),
        ({"reason": "RequestEntityTooLarge"}, 413, "failed expression: false"),
        ({"messageExpression": "'not ' + object.metadata.name"}, 422, "not web"),
        ({"messageExpression": "'x' + object.metadata.nothing", "message": "plain"}, 422, "plain"),
        ({"messageExpression": "'a\\nb'", "message": "one line"}, 422, "one line"),
        ({"messageExpression": "'  '"}, 422, "failed expression: false"),
    ],
)
def test_the_message_and_the_reason(validation: Any, code: int, message: str) -> None:
    cluster = guarded(policy(validation=validation), binding())
    with pytest.raises(PolicyDenied) as error:
        cluster.create([pod()])
    assert error.value.code == code
    assert str(error.value) == f'pods "web" is forbidden: {BY} {message}'


@pytest.mark.parametrize(
    "expression",
    [
        "object.metadata.namespace == 'default' && object.metadata.name == 'web'",
        "oldObject == null && !has(request.subResource)",
        "request.operation == 'CREATE' && request.name == 'web' && request.namespace == 'default'",
        "request.kind.kind == 'Pod' && request.resource.resource == 'pods' && request.kind.group == ''",
        "request.userInfo.username == 'system:anonymous' && !request.dryRun",
        "'system:unauthenticated' in request.userInfo.groups",
        "request.options.kind == 'CreateOptions'",
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'",
        "namespaceObject.metadata.name == request.namespace && namespaceObject.status.phase == 'Active'",
        "authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()",
        "authorizer.requestResource.check('delete').allowed()",
        "authorizer.path('/healthz').check('get').allowed()",
        "authorizer.serviceAccount('a', 'b').group('').resource('pods').check('get').reason() == ''",
        "object.spec.containers.all(c, c.image.contains(':')) && !has(object.spec.nodeName)",
        "object.?spec.?nodeName.orValue('none') == 'none'",
    ],
)
def test_what_an_expression_can_name(expression: str) -> None:
    cluster = guarded(policy(expression), binding())
    assert denied(cluster, pod()) == ""


def test_variables_are_evaluated_when_they_are_read() -> None:
    variables = [
        {"name": "count", "expression": "object.spec.containers.size()"},
        {"name": "double", "expression": "variables.count * 2"},
        {"name": "broken", "expression": "object.spec.nothing.more == 1"},
    ]
    cluster = guarded(policy("variables.double == 2", variables=variables), binding())
    assert denied(cluster, pod()) == ""
    cluster = guarded(policy("variables.broken", variables=variables), binding())
    assert denied(cluster, pod()).endswith(
        "expression 'variables.broken' resulted in error: "
        'composited variable "broken" fails to evaluate: no such key: nothing'
    )


CHECK = "authorizer.path('/healthz').check('get').allowed()"
BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


def test_an_expression_that_costs_too_much_is_an_error() -> None:
    """A check of the authorizer costs 350,000 of the 1,000,000 that one expression has."""
    assert denied(guarded(policy(f"{CHECK} && {CHECK}"), binding()), pod("a")) == ""
    text = f"({CHECK} && {CHECK} && {CHECK}) || true"
    message = denied(guarded(policy(text), binding()), pod("a"))
    assert message.endswith(
        f"{BY} expression '{text}' resulted in error: operation cancelled: actual cost limit exceeded"
    )
    assert denied(guarded(policy(text, failurePolicy="Ignore"), binding()), pod("a")) == ""
    of_variable = policy("variables.a", variables=[{"name": "a", "expression": text}])
    assert denied(guarded(of_variable, binding()), pod("a")).endswith(
        'composited variable "a" fails to evaluate: operation cancelled: actual cost limit exceeded'
    )


def test_the_expressions_of_a_policy_have_a_budget() -> None:
    twice = f"{CHECK} && {CHECK}"
    many = [{"expression": twice} for _ in range(15)]
    assert denied(guarded(policy(validations=many[:14]), binding()), pod("a")) == ""
    before = [{"expression": "false"}, *many]
    assert denied(guarded(policy(validations=before), binding()), pod("a")).endswith(f"{BY} {BUDGET}")
    lenient = policy(validations=before, failurePolicy="Ignore")
    assert denied(guarded(lenient, binding()), pod("a")) == ""
    conditions = [{"name": f"c{index}", "expression": twice} for index in range(4)]
    matched = policy("true", matchConditions=conditions)
    assert denied(guarded(matched, binding()), pod("a")).endswith(f"{BY} {BUDGET}")
    variables = [{"name": f"v{index}", "expression": twice} for index in range(15)]
    read = " && ".join(f"variables.{each['name']}" for each in variables)
    composed = guarded(policy(read, variables=variables), binding())
    assert denied(composed, pod("a")).endswith(f"{BY} {BUDGET}")
    annotations = [{"key": f"a{index}", "valueExpression": f"{twice} ? 'a' : 'b'"} for index in range(15)]
    audited = guarded(policy("true", auditAnnotations=annotations), binding())
    assert denied(audited, pod("a")).endswith(f"{BY} {BUDGET}")


def test_errors_deny_unless_they_are_to_be_ignored() -> None:
    expression = "object.spec.nothing == 1"
    cluster = guarded(policy(expression), binding())
    assert denied(cluster, pod()) == (
        f"pods \"web\" is forbidden: {BY} expression '{expression}' resulted in error: no such key: nothing"
    )
    cluster = guarded(policy(expression, failurePolicy="Ignore"), binding())
    assert denied(cluster, pod()) == ""


def test_match_conditions_choose_the_requests() -> None:
    conditions = [{"name": "web", "expression": "object.metadata.name == 'web'"}]
    cluster = guarded(policy(matchConditions=conditions), binding())
    assert denied(cluster, pod())
    assert denied(cluster, pod("other")) == ""
    wrong = [{"name": "wrong", "expression": "object.nothing == 1"}]
    cluster = guarded(policy("true", matchConditions=wrong), binding())
    assert denied(cluster, pod()).endswith(
        "expression 'object.nothing == 1' resulted in error: no such key: nothing"
    )
    cluster = guarded(policy("true", matchConditions=[*wrong, *conditions]), binding())
    assert denied(cluster, pod("other")) == "", "what is false counts more than an error"
    cluster = guarded(policy(matchConditions=wrong, failurePolicy="Ignore"), binding())
    assert denied(cluster, pod()) == ""


def test_a_policy_without_a_binding_and_a_binding_without_a_policy_do_nothing() -> None:
    assert denied(guarded(policy()), pod()) == ""
    assert denied(guarded(binding()), pod()) == ""


@pytest.mark.parametrize(
    ("match", "is_denied"),
    [
        ({"resourceRules": [rule("pods")]}, True),
        ({"resourceRules": [rule("*")]}, True),
        ({"resourceRules": [rule("*/*")]}, True),
        ({"resourceRules": [rule("pods/*")]}, True),
        ({"resourceRules": [rule("pods/status")]}, False),
        ({"resourceRules": [rule("deployments")]}, False),
        ({"resourceRules": [rule("pods", operations=("UPDATE",))]}, False),
        ({"resourceRules": [rule("pods", operations=("CREATE",))]}, True),
        ({"resourceRules": [rule("pods", apiGroups=["apps"])]}, False),
        ({"resourceRules": [rule("pods", apiVersions=["v2"])]}, False),
        ({"resourceRules": [rule("pods", scope="Cluster")]}, False),
        ({"resourceRules": [rule("pods", scope="Namespaced")]}, True),
        ({"resourceRules": [rule("pods", resourceNames=["a"])]}, False),
        ({"resourceRules": [rule("pods", resourceNames=["web"])]}, True),
        (
            {"resourceRules": [rule("pods")], "excludeResourceRules": [rule("*", resourceNames=["web"])]},
            False,
        ),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, True),
        ({"objectSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}, False),
    ],
)
def test_what_a_policy_and_a_binding_match(match: Any, is_denied: bool) -> None:
    made = pod()
    made["metadata"]["labels"] = {"app": "web"}
    assert bool(denied(guarded(policy(match=match), binding()), made)) == is_denied
    assert bool(denied(guarded(policy(), binding(matchResources=match)), made)) == is_denied


def test_a_namespace_is_selected_by_its_own_labels_and_cluster_scoped_objects_always_are() -> None:
    match = {"namespaceSelector": {"matchLabels": {"env": "test"}}}
    cluster = guarded(policy(resources=("namespaces", "nodes"), match=match), binding())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    assert denied(cluster, namespace) == ""
    namespace["metadata"] = {"name": "n", "labels": {"env": "test"}}
    assert denied(cluster, namespace).startswith('namespaces "n" is forbidden')
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert denied(cluster, node).startswith('nodes "n" is forbidden')


def found(plural: str, group: str = "") -> Resource:
    resource = find_built_in(group, plural)
    assert resource is not None
    return resource


def test_policies_are_evaluated_for_updates_subresources_and_deletions() -> None:
    deployment = workload("Deployment", replicas=1)
    cluster = Cluster()
    (old,) = cluster.create([deployment])
    expression = "request.operation != 'UPDATE' || object.spec.replicas <= oldObject.spec.replicas"
    cluster.create([policy(expression, resources=("deployments", "deployments/scale"))])
    cluster.create([binding()])
    more = {**old, "spec": {**old["spec"], "replicas": 2}}
    deployments = found("deployments", "apps")
    for subresource in ("", "scale"):
        with pytest.raises(PolicyDenied) as error:
            admit_update(deployments, old, more, cluster, subresource=subresource)
        assert str(error.value).startswith('deployments.apps "web" is forbidden')
    assert admit_update(deployments, old, more, cluster, subresource="status") is not None

    cluster = guarded(policy("oldObject.metadata.name != 'web' || object != null"), binding())
    kept, free = pod(), pod("free")
    for made in (kept, free):
        made["metadata"]["namespace"] = "default"
    with pytest.raises(PolicyDenied):
        check_policies(deletion_request(PODS, kept, Asked()), Overlay(cluster))
    check_policies(deletion_request(PODS, free, Asked()), Overlay(cluster))


def test_a_scale_is_seen_as_one() -> None:
    deployment = workload("Deployment", replicas=1)
    cluster = Cluster()
    (old,) = cluster.create([deployment])
    kind = "request.kind.kind == 'Scale' && request.kind.group == 'autoscaling' && object.kind == 'Scale'"
    cluster.create([policy(f"{kind} && request.subResource == 'scale'", resources=("*/scale",))])
    cluster.create([binding()])
    more = {**old, "spec": {**old["spec"], "replicas": 2}}
    assert admit_update(found("deployments", "apps"), old, more, cluster, subresource="scale").changes


def test_policies_are_not_evaluated_for_policies_and_webhooks() -> None:
    cluster = guarded(policy(resources=("*",)), binding())
    assert denied(cluster, policy(name="another")) == ""


def test_warnings_and_audit_let_the_request_pass() -> None:
    cluster = guarded(policy(validation={"message": "old image"}), binding(actions=("Warn", "Audit")))
    asked = Asked()
    assert denied(cluster, pod(), asked=asked) == ""
    assert asked.warnings == [
        "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': old image"
    ]


def config(name: str, most: str, **labels: str) -> Manifest:
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"most": most}}


def of_params(expression: str, kind: str = "ConfigMap", api_version: str = "v1") -> Manifest:
    return policy(expression, paramKind={"apiVersion": api_version, "kind": kind})


def chosen(**reference: Any) -> Manifest:
    return binding(paramRef={"parameterNotFoundAction": "Deny", **reference})


def test_a_policy_is_evaluated_with_each_parameter() -> None:
    expression = "object.spec.containers.size() <= int(params.data.most)"
    cluster = guarded(of_params(expression), chosen(name="limits"), config("limits", "1"))
    assert denied(cluster, pod()) == ""
    two = [{"name": name, "image": "i:1"} for name in ("a", "b")]
    assert denied(cluster, pod(containers=two)).endswith(f"failed expression: {expression}")
    selector = {"matchLabels": {"use": "limit"}}
    many = [config("a", "9", use="limit"), config("b", "1", use="limit"), config("c", "0")]
    cluster = guarded(of_params(expression), chosen(selector=selector), *many)
    assert denied(cluster, pod()) == ""
    assert denied(cluster, pod(containers=two))


def test_parameters_that_are_not_there() -> None:
    missing = "no params found for policy binding with `Deny` parameterNotFoundAction"
    cluster = guarded(of_params("true"), chosen(name="limits"))
    assert denied(cluster, pod()) == (f'pods "web" is forbidden: {BY} failed to configure binding: {missing}')
    cluster = guarded(of_params("false"), chosen(name="limits", parameterNotFoundAction="Allow"))
    assert denied(cluster, pod()) == ""
    cluster = guarded(of_params("params == null"), binding())
    assert denied(cluster, pod()) == "", "a binding need not have parameters"
    cluster = guarded(of_params("true", "Limit", "example.com/v1"), chosen(name="limits"))
    assert denied(cluster, pod()) == (
        "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure "
        "policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
    )
    everywhere = of_params("true")
    everywhere["spec"]["matchConstraints"]["resourceRules"] = [rule("nodes")]
    cluster = guarded(everywhere, chosen(name="limits"))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert denied(cluster, node).endswith(
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
    )


def test_parameters_may_be_custom_resources() -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "limits", "namespace": "default"},
        "spec": {"size": 3},
    }
    cluster = guarded(definition(version("v1", storage=True)), widget)
    cluster.create([of_params("params.spec.size == 2", "Widget", "example.com/v1")])
    cluster.create([chosen(name="limits")])
    assert denied(cluster, pod())
    assert denied(cluster, {**widget, "metadata": {"name": "other", "namespace": "default"}}) == ""


def test_policies_are_evaluated_for_objects_of_controllers_with_their_user_names() -> None:
    name = "system:serviceaccount:kube-system:replicaset-controller"
    cluster = guarded(policy(f"request.userInfo.username != '{name}'"), binding())
    assert denied(cluster, pod()) == ""
    assert denied(cluster, pod(), asked=Asked(controller_user("replicaset-controller")))


def test_generated_names_are_known() -> None:
    cluster = guarded(policy("request.name.startsWith('web-') && request.name.size() == 9"), binding())
    made = pod()
    made["metadata"] = {"generateName": "web-"}
    assert denied(cluster, made) == ""
    made["metadata"] = {"generateName": "a-"}
    assert denied(cluster, made).startswith('pods "a-')
