"""Patches that are no list of operations, or that leave out what an operation needs, as kube-apiserver reads
them: a table of bodies and what they are answered."""

from typing import Any

import pytest

from simulator.apiserver.patches.patch_request import PatchBody, patched_object
from simulator.apiserver.request_errors import UnprocessablePatch
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import BadRequest

CONFIG_MAPS = find_by_kind("v1", "ConfigMap")
STORED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
UNDECODED = "error decoding patch: "
STRATEGIC = "application/strategic-merge-patch+json"


def patched(media_type: str, text: str, validation: str = "") -> tuple[Any, list[str]]:
    assert CONFIG_MAPS is not None
    body = PatchBody(media_type, text.encode(), validation)
    result = patched_object(CONFIG_MAPS, body, STORED)
    return result.manifest["data"], result.warnings


@pytest.mark.parametrize(
    ("media_type", "validation", "text", "message"),
    [
        (
            JSON,
            "",
            "{}",
            UNDECODED + "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (JSON, "Ignore", "{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (
            JSON,
            "",
            "[5]",
            UNDECODED + "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (JSON, "Ignore", "[5]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
        (
            JSON,
            "Strict",
            '[{"op": 5}]',
            UNDECODED + "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (JSON, "", "", "error decoding patch: unexpected end of JSON input"),
        (JSON, "Ignore", "", "unexpected end of JSON input"),
        (MERGE, "", "null", "Invalid JSON Patch"),
        (
            MERGE,
            "",
            "[]",
            UNDECODED + "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (STRATEGIC, "", "[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_a_body_of_another_type_is_refused(media_type: str, validation: str, text: str, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        patched(media_type, text, validation)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "[null]",
        '[{"op": "add", "Path": "/data/b", "value": "1"}]',
        '[{"op": "add", "path": "data", "value": "1"}]',
        '[{"op": "move", "from": "/data/b", "path": "/data/c"}]',
    ],
)
def test_an_operation_that_does_not_apply_is_refused(text: str) -> None:
    with pytest.raises(UnprocessablePatch):
        patched(JSON, text)


@pytest.mark.parametrize(
    ("media_type", "text", "data", "warnings"),
    [
        (JSON, "null", {"a": "1"}, []),
        (STRATEGIC, "null", {"a": "1"}, []),
        (JSON, '[{"op": "add", "path": "/data/b"}]', {"a": "1", "b": ""}, []),
        (JSON, '[{"op": "replace", "path": "/data/a"}]', {"a": ""}, []),
        (JSON, '[{"op": "copy", "from": "/data/b", "path": "/data/c"}]', {"a": "1", "c": ""}, []),
        (JSON, '[{"op": "add", "path": "ignored/b", "value": 1}]', {"a": "1"}, ['unknown field "b"']),
        (
            JSON,
            '[{"op": "add", "path": "/data/b", "value": "2", "more": {"x": 1, "x": 2}}]',
            {"a": "1", "b": "2"},
            ['json patch unknown field "[0].more"'],
        ),
        (
            JSON,
            '[{"op": "add", "op": "add", "path": "/data/b", "value": "2"}]',
            {"a": "1", "b": "2"},
            ['json patch duplicate field "[0].op"'],
        ),
    ],
)
def test_omitted_fields_are_null(media_type: str, text: str, data: Any, warnings: list[str]) -> None:
    assert patched(media_type, text) == (data, warnings)
