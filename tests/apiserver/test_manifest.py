"""The parsing of text to manifests: which texts are read, how, and which are refused."""

import contextlib
import json
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from simulator.apiserver.bounds import MAX_BYTES, MAX_DEPTH, MAX_DOCUMENTS, MAX_NODES, MAX_OBJECT_BYTES
from simulator.apiserver.manifest import (
    ManifestError,
    TooLong,
    parse_documents,
    parse_json_document,
    parse_manifests,
)

POD = "apiVersion: v1\nkind: Pod\n"


def test_many_documents_lists_and_json_give_their_manifests() -> None:
    text = """
# a comment, and an empty document
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod, metadata: {name: a}}
  - {apiVersion: v1, kind: Node, metadata: {name: b}}
---
apiVersion: v1
kind: PodList
items: [{metadata: {name: c}}]
"""
    found = [(m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in parse_manifests(text)]
    assert found == [("v1", "Pod", "a"), ("v1", "Node", "b"), ("v1", "Pod", "c")]
    assert parse_manifests('\n{"apiVersion": "v1", "kind": "Pod", "x": "\\ud83d\\ude80"}')[0]["x"] == "🚀"
    assert parse_manifests(b"") == []


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("22:22", "22:22"),
        ("2020-01-01", "2020-01-01"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("true", True),
        ("12", 12),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("0644", 420),
        ("0o17", 15),
        ("0x1F", 31),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("~", None),
        ("", None),
        ("500m", "500m"),
    ],
)
def test_a_scalar_is_what_kubernetes_sees_in_it(scalar: str, value: object) -> None:
    assert parse_documents(f"a: {scalar}") == [{"a": value}]


def test_a_key_is_its_text_with_any_yaml_type() -> None:
    assert parse_documents("{80: a, yes: b, ~: c, 0x1F: d, '<<': e}") == [
        {"80": "a", "yes": "b", "~": "c", "0x1F": "d", "<<": "e"}
    ]


def test_anchors_and_merge_keys_are_written_out() -> None:
    text = "base: &base {x: 1, y: [1]}\nother: {<<: *base, x: 2}\nboth: {<<: [{x: 3}, *base]}\nagain: *base\n"
    (found,) = parse_documents(text)
    assert found["other"] == {"x": 2, "y": [1]}
    assert found["both"] == {"x": 3, "y": [1]}
    found["again"]["y"].append(2)
    assert found["base"]["y"] == found["other"]["y"] == [1], "no two places share a part"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "line 1, column 5: not YAML: mapping values are not allowed"),
        ("a: 1\n\tb: 2", "line 2, column 1: not YAML: found a tab character that violates indentation"),
        ("a: 'x", "not YAML: found unexpected end of stream"),
        ("a: \x07", "line 1: control characters are not allowed"),
        ("x: 1\na: 1\na: 2", 'line 3: duplicate key "a"'),
        ('{"a": 1, "a": 2}', 'duplicate key "a"'),
        ('{"a": ', "line 1, column 7: not JSON"),
        ('{"a": NaN}', "number out of range: NaN"),
        ('{"a": "\\ud83d"}', "half of a surrogate pair"),
        ('a: "\\ud83d"', "line 1, column 7: not YAML"),
        ("a: 1e999", "line 1: number out of range: 1e999"),
        ("a: " + "9" * 100_000, "line 1: number of more than 25 digits"),
        ("a: *x", 'line 1: unknown alias "x"'),
        ("a: &x [*x]", 'line 1: unknown alias "x"'),
        ("a: &x 1\nb: &x 2", 'line 2: anchor "x" given twice'),
        ("a: &x {b: 1}\nc: {<<: *x, d: 1, d: 2}", 'line 2: duplicate key "d"'),
        ("a: {<<: 1}", "line 1, column 9: not YAML: expected a mapping or list of mappings for merging"),
        ("a: !!map [1]", "line 1: tag tag:yaml.org,2002:map is not allowed"),
        ("? [a]\n: b", "a key must be a string"),
        ("a: !!python/object:os.system x", "tag:yaml.org,2002:python/object:os.system is not allowed"),
        ("hello", "expected an object, got a string"),
        ("- a", "expected an object, got a list"),
        ("metadata: {name: x}", "document 1: apiVersion not set"),
        ("apiVersion: v1\nkind: List\nitems: [1]", "items[0]: expected an object, got a number"),
    ],
)
def test_an_invalid_manifest_is_refused_with_one_line(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as refused:
        parse_manifests(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}' if before else 'lol'] * 9)}]\n"
    for before, name in zip(["", *"abcdefgh"], "abcdefghi", strict=True)
)
CHAIN = "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 30_000 + "]" * 30_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("{" * 30_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("{a: " * 30_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("- " * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' * 30_000 + "1" + "}" * 30_000, f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' + "[" * 30_000 + "]" * 30_000 + "}", f"nested deeper than {MAX_DEPTH} levels"),
        (CHAIN, f"nested deeper than {MAX_DEPTH} levels"),
        (BOMB, f"more than {MAX_NODES} values"),
        ("a: [" + "1," * (MAX_NODES + 1) + "]", f"more than {MAX_NODES} values"),
        ('{"a": [' + "1," * MAX_NODES + "1]}", f"more than {MAX_NODES} values"),
        ("--- {}\n" * (MAX_DOCUMENTS + 1), f"more than {MAX_DOCUMENTS} documents"),
        ("a: " + "x" * MAX_OBJECT_BYTES, "larger than 1.5 MiB, the limit of one object"),
        ("a: " + "x" * MAX_BYTES + "\n---\nb: 1", f"larger than {MAX_BYTES // 1024} KiB; split it into"),
    ],
    ids=[
        "30,000 brackets", "30,000 braces", "30,000 maps", "100,000 dashes", "deep JSON", "deep JSON list",
        "alias chain", "alias bomb", "many values", "many JSON values", "many documents", "one large",
        "two large",
    ],
)  # fmt: skip
def test_a_yaml_bomb_is_refused_at_the_bound(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as refused:
        parse_manifests(text)
    assert message in str(refused.value)


def test_bytes_are_counted_before_they_are_decoded() -> None:
    with pytest.raises(TooLong):
        parse_manifests(b"\xff" * (MAX_OBJECT_BYTES + 1))
    with pytest.raises(ManifestError, match="line 2: not UTF-8"):
        parse_manifests(b"a: 1\nb: \xff")


def test_30_000_brackets_do_not_end_the_process() -> None:
    """In a process of its own, which PyYAML's C composer would crash."""
    script = (
        "from simulator.apiserver.manifest import ManifestError, parse_manifests\n"
        "for text in ('[' * 30_000, '[' * 30_000 + ']' * 30_000, '{\"a\":' * 30_000):\n"
        "    try:\n"
        "        parse_manifests(text)\n"
        "    except ManifestError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.count("nested deeper than") == 3


# Without control characters and line breaks, which JSON may hold raw and YAML may not.
texts = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@settings(derandomize=True)
@example({"": {"<<": None}})
@given(st.dictionaries(texts, values, max_size=5))
def test_the_same_is_read_from_yaml_and_json(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert parse_json_document(text) == value
    assert parse_documents(f"---\n{text}") == [value]


@settings(derandomize=True)
@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_gives_manifests_or_an_error_of_one_line(text: str | bytes) -> None:
    with contextlib.suppress(ManifestError):
        assert all(isinstance(manifest["kind"], str) for manifest in parse_manifests(text))
