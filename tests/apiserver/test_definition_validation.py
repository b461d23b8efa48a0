"""Validation of CustomResourceDefinitions, with upstream's paths and texts."""

import copy
import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from simulator.api import Manifest
from simulator.apiserver.kinds.definitions.strategy import DEFINITIONS
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.status import Invalid
from tests.apiserver.cluster import Cluster, refusal

_CASES: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("definition_faults.yaml").read_text(encoding="utf-8")
)
_SCHEMA: Final = "spec.validation.openAPIV3Schema"
_NAMES: Final = {
    "LABEL": _CASES["label"],
    "FIELD": f"{_SCHEMA}.properties[spec].properties[a]",
    "SPEC": f"{_SCHEMA}.properties[spec]",
    "SCHEMA": _SCHEMA,
}


def changed(case: dict[str, Any]) -> Manifest:
    """The right definition with the change of a case."""
    made: Manifest = copy.deepcopy(_CASES["definition"])
    (version,) = made["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    fields = schema["properties"]
    if "field" in case:
        fields["spec"]["properties"]["a"] = case["field"]
    fields["spec"] = apply_merge_patch(fields["spec"], case.get("spec", {}))
    version["schema"]["openAPIV3Schema"] = apply_merge_patch(schema, case.get("root", {}))
    made["spec"]["versions"] = [apply_merge_patch(version, case.get("version", {}))]
    patched = apply_merge_patch(made, case.get("definition", {}))
    assert isinstance(patched, dict)
    return patched


def faults(definition: Manifest) -> list[str]:
    try:
        Cluster().create([definition])
    except Invalid as error:
        return [str(cause) for cause in error.causes]
    return []


def written_out(text: str) -> str:
    for name, meant in _NAMES.items():
        text = text.replace(name, meant)
    return text


@pytest.mark.parametrize("case", _CASES["cases"], ids=lambda case: json.dumps(case)[:60])
def test_the_faults_of_a_definition(case: dict[str, Any]) -> None:
    assert faults(changed(case)) == [*map(written_out, case["faults"])]


def test_a_rule_that_may_cost_much_is_taken_and_bounded_when_it_is_evaluated() -> None:
    cluster, items = Cluster(), {"type": "array", "items": {"type": "string"}}
    rule = {"rule": "self.all(x, self.all(y, true))", "message": "never"}
    cluster.create([changed({"field": {**items, "x-kubernetes-validations": [rule]}})])
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    cluster.create([{**widget, "spec": {"a": ["b"] * 10}}])
    refused = refusal(lambda: cluster.admit([{**widget, "spec": {"a": ["b"] * 2_000}}]))
    assert refused
    assert "no further validation rules will be run due to call cost exceeds limit" in refused.message


def test_versions_that_differ_keep_their_own_paths() -> None:
    definition, other = changed({}), changed({"field": {}})["spec"]["versions"][0]
    definition["spec"]["versions"].append({**other, "name": "v2", "storage": False})
    (fault,) = faults(definition)
    path = "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type"
    assert fault == f"{path}: Required value: must not be empty for specified object fields"


def test_beside_the_status_the_root_has_certain_fields_only() -> None:
    case = {"version": {"subresources": {"status": {}}}, "root": {"x-kubernetes-map-type": "atomic"}}
    (found,) = faults(changed(case))
    assert found.startswith(
        f'{_SCHEMA}: Invalid value: {{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object",'
    )
    assert found.endswith(
        '"XMapType":"atomic","XValidations":null}: only [Description Type Format Title Maximum '
        "ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
        "MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
        "fields are allowed at the root of the schema if the status subresource is enabled"
    )


def with_rule(rule: str, message: str = "'wrong'") -> Manifest:
    rules = [{"rule": rule, "messageExpression": message}]
    texts = {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rules}
    return changed({"field": texts})


OF_V1_34 = "self.distinct() == self"
"""A rule with a function that is new in v1.34."""
OF_V1_34_TEXT = "self.distinct().join(',')"


def test_a_new_expression_uses_only_what_the_version_before_knows_too() -> None:
    (fault,) = faults(with_rule(OF_V1_34))
    assert "compilation failed: ERROR: <input>:1:14: undeclared reference to 'distinct'" in fault
    (fault,) = faults(with_rule("true", OF_V1_34_TEXT))
    assert "messageExpression compilation failed: ERROR: <input>:1:14: undeclared reference to" in fault


def test_a_stored_expression_may_stay() -> None:
    cluster = Cluster()
    (old,) = cluster.create([with_rule("true")])
    stored = with_rule(OF_V1_34, OF_V1_34_TEXT)["spec"]["versions"]
    old = {**old, "spec": {**old["spec"], "versions": stored}}
    also = changed({})["spec"]["versions"][0] | {"name": "v2", "storage": False}
    also["schema"] = stored[0]["schema"]
    assert cluster.update(DEFINITIONS, old, {**old, "spec": {**old["spec"], "versions": [*stored, also]}})
    other = with_rule(f"!({OF_V1_34})")["spec"]["versions"]
    refused = refusal(
        lambda: cluster.update(DEFINITIONS, old, {**old, "spec": {**old["spec"], "versions": other}})
    )
    assert "undeclared reference to 'distinct'" in str(refused)
