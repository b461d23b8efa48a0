"""The forms of a dump: each gives the same objects, and what is no dump is refused with what it is."""

import codecs
import gzip
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml

from schedviz.web.manifests.yaml import Plain, to_yaml
from simulator.api import Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.dumps.dump import Dump
from tests.apiserver.imported_objects import imported, taken_of
from tests.dumps import as_list, cluster, node


def test_the_items_of_a_small_list_may_refer_to_one_another() -> None:
    listed = yaml.safe_dump({"items": cluster(), "kind": "List"})
    assert "*id001" in listed
    assert imported(listed)[0] == imported(as_list(cluster()))[0]


class Indented(Plain):
    """Indents lists more than their parents, as other tools than kubectl do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def lists_of(items: list[Manifest]) -> list[Manifest]:
    """Typed lists, as kubectl cluster-info dump prints them: their items have neither apiVersion nor kind."""
    kinds = dict.fromkeys((each["apiVersion"], each["kind"]) for each in items)
    return [
        {
            "kind": f"{kind}List",
            "apiVersion": version,
            "metadata": {},
            "items": [
                {field: value for field, value in each.items() if field not in ("apiVersion", "kind")}
                for each in items
                if (each["apiVersion"], each["kind"]) == (version, kind)
            ],
        }
        for version, kind in kinds
    ]


def typed_lists(items: list[Manifest]) -> list[str]:
    return [json.dumps(each, indent=4) + "\n" for each in lists_of(items)]


def with_logs(documents: list[str], between: str = "") -> bytes:
    """The output of kubectl cluster-info dump. A log may have any lines, and no line feed at its end."""
    log = '{\n}\n{"kind": "Node"}\n---\n==== END logs for container x of pod a/b ====\n\xff'
    head, tail = (f"==== {word} logs for container main of pod shop/web ====" for word in ("START", "END"))
    logs = f"{head}\n{log}{tail}\n{head}\n{tail}\n{head}\n{log}"
    return (between.join(documents) + logs).encode("latin-1")


@cache
def in_forms() -> dict[str, bytes]:
    items = cluster()
    one = as_list(items)
    documents = "---\n".join(yaml.safe_dump(each) for each in items)
    listed = to_yaml([{"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}}])
    indented = yaml.dump({"apiVersion": "v1", "items": items, "kind": "List"}, Dumper=Indented)
    halves = as_list(items[:7]) + "\n" + as_list(items[7:]) + "\n"
    lines = "".join(json.dumps(each) + "\n" for each in items)
    powershell = one.replace("\n", "\r\n")
    return {
        "a List in JSON": one.encode(),
        "the same, gzipped": gzip.compress(one.encode()),
        "two Lists in JSON, one after the other": halves.encode(),
        "many YAML documents": documents.encode(),
        "a List in YAML": listed.encode(),
        "another hand's indentation": indented.encode(),
        "JSON Lines": lines.encode(),
        "JSON documents without a line feed at the end": lines.rstrip().encode(),
        "Windows' line ends": lines.replace("\n", "\r\n").encode(),
        "an array": json.dumps(items).encode(),
        "an array of Lists": json.dumps([json.loads(as_list(items[:7])), *items[7:]], indent=2).encode(),
        "PowerShell": codecs.BOM_UTF16_LE + powershell.encode("utf-16-le"),
        "PowerShell, YAML": codecs.BOM_UTF16_LE + listed.replace("\n", "\r\n").encode("utf-16-le"),
        "UTF-8 with a byte order mark": codecs.BOM_UTF8 + one.encode(),
        "a list in YAML": yaml.dump(items, Dumper=Plain).encode(),
        "typed lists with logs": with_logs(typed_lists(items)),
        "typed lists in YAML with logs": with_logs([to_yaml([each]) for each in lists_of(items)], "---\n"),
    }


@pytest.mark.parametrize("form", in_forms())
def test_every_form_of_a_dump_gives_the_same_objects(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = imported(as_list(cluster()))[0]
    assert imported(in_forms()[form])[0] == expected
    monkeypatch.setattr("simulator.dumps.documents.MAX_WHOLE_DOCUMENT", 0)
    assert imported(in_forms()[form])[0] == expected, "read item by item, as large ones are"


def in_folder(folder: Path) -> None:
    """What kubectl cluster-info dump --output-directory writes."""
    (folder / "shop" / "web").mkdir(parents=True)
    (folder / "shop" / "web" / "logs.txt").write_text("{\n}\n")
    (folder / "shop" / "._pods.json").write_bytes(b"\0\5\x16\7")
    for number, text in enumerate(typed_lists(cluster())):
        path = folder / ("shop" if number % 2 else "") / f"{number}.json"
        path.write_bytes(gzip.compress(text.encode()) if number == 3 else text.encode())
        if number == 3:
            path.rename(path.with_suffix(".json.gz"))
    (folder / "empty.json").write_text("")


def packed(folder: Path) -> dict[str, Dump]:
    """The folder, and archives of it."""
    made = {"folder": Dump.read(folder)}
    for form in ("tar", "gztar", "zip"):
        archive = shutil.make_archive(str(folder.parent / form), form, folder)
        made[form] = Dump.read(Path(archive))
    return made


def test_a_folder_and_its_archives_are_read(tmp_path: Path) -> None:
    expected = imported(as_list(cluster()))[0]
    in_folder(tmp_path / "dump")
    for form, dump in packed(tmp_path / "dump").items():
        assert taken_of(dump)[0] == expected, form


def test_a_wrong_file_of_a_folder_is_named(tmp_path: Path) -> None:
    in_folder(tmp_path / "dump")
    (tmp_path / "dump" / "shop" / "wrong.yaml").write_text("a: 1\nb: [")
    for dump in packed(tmp_path / "dump").values():
        with pytest.raises(ManifestError, match=r"shop/wrong.yaml: line 3, column 1: not YAML"):
            taken_of(dump)


def test_a_folder_without_manifests_and_one_that_is_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "logs.txt").write_text("{}")
    for form in ("tar", "zip"):
        with pytest.raises(ManifestError, match=r"has no file whose name ends with .json"):
            Dump.read(Path(shutil.make_archive(str(tmp_path / form), form, tmp_path / "dump")))
    with pytest.raises(ManifestError, match=r"the folder has no file"):
        Dump.read(tmp_path / "dump")
    for name in ("a.json", "b.json"):
        (tmp_path / "dump" / name).write_bytes(gzip.compress(b" " * 800))
    monkeypatch.setattr("simulator.dumps.dump_files.MAX_DUMP_BYTES", 1000)
    with pytest.raises(ManifestError, match="more than"):
        Dump.read(tmp_path / "dump")
    monkeypatch.setattr("simulator.dumps.dump_files.MAX_FILES", 1)
    monkeypatch.setattr("simulator.dumps.dump_files.MAX_DUMP_BYTES", 10_000)
    with pytest.raises(ManifestError, match="more than 1 files"):
        Dump.read(tmp_path / "dump")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NAME     STATUS   ROLES    AGE\nnode-1   Ready    <none>   5d\n", "a table"),
        ("NAMESPACE   NAME   READY\ndefault     web    1/1\n", "a table"),
        ("LAST SEEN   TYPE     REASON\n5s          Normal   Scheduled\n", "a table"),
        ("Name:             web\nNamespace:        default\n", "kubectl describe"),
        ("Kubernetes control plane is running at https://10.0.0.1\n", "kubectl cluster-info"),
        ("Error from server (Forbidden): nodes is forbidden\n", "a message of kubectl"),
        ("E1127 10:20:30.123456    1 memcache.go:265] couldn't get\n", "a message of kubectl"),
        ("node/node-1\nnode/node-2\n", "a list of names"),
        ("deployment.apps/web\n", "a list of names"),
        ("Warning: v1 ComponentStatus is deprecated in v1.19+\n{}", "a message of kubectl"),
        ("$ kubectl get nodes -o json\n{}", "a copy of a terminal"),
        ("```json\n{}\n```\n", "a text in Markdown"),
        ("n1   Ready   <none>   5d   v1.34.1\n", "not an object of Kubernetes"),
        ("\n<!DOCTYPE html><html></html>", "a web page"),
        ("\x28\xb5\x2f\xfd\x04", "zstd"),
        ("7z\xbc\xaf\x27\x1c", "7z"),
        ("\0" * 16 + "\xed\xda\x0c\xed", "etcd"),
    ],
)
def test_what_is_no_dump_is_named_with_the_command_to_use(text: str, found: str) -> None:
    with pytest.raises(ManifestError, match=r"use kubectl get nodes,pods,.* -A -o json") as refused:
        imported(text.encode("latin-1"))
    assert found in str(refused.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[{"metadata": {"name": "n"}}]', "found 1 without apiVersion and kind; use kubectl get nodes"),
        ("apiVersion: v1\nkind: Config\nclusters: []", "found 1 Config; use kubectl get nodes"),
        (as_list([cluster()[0], cluster()[1], cluster()[1]]), "found 2 ConfigMap, 1 Secret; use kubectl"),
        (
            json.dumps({**node("n"), "spec": {"taints": 1}, "metadata": {}}),
            "(Node : metadata.name is missing",
        ),
    ],
)
def test_a_dump_of_other_kinds_says_which(text: str, found: str) -> None:
    with pytest.raises(ManifestError) as refused:
        taken_of(Dump(text.encode()))
    assert found in str(refused.value)


def test_typed_lists_say_once_what_their_items_are() -> None:
    items = [{field: value for field, value in node("n").items() if field not in ("apiVersion", "kind")}]
    typed = {"kind": "NodeList", "apiVersion": "v1", "items": items}
    empty = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": None}
    for form in (json.dumps, yaml.safe_dump):
        objects, report = imported("\n---\n".join(map(form, (typed, empty))))
        assert ("nodes", "n") in objects
        assert [(kind.kind, kind.came) for kind in report.kinds] == [("Node", 1)]


@pytest.mark.parametrize(
    "text",
    [
        lambda a, b: json.dumps(a) + json.dumps(b),
        lambda a, b: f"{json.dumps(a)} {json.dumps(b)}",
        lambda a, b: json.dumps([a]) + json.dumps([b]),
        lambda a, b: json.dumps([[a], [b]]),
        lambda a, b: json.dumps({"apiVersion": "v1", "kind": "List", "items": [json.loads(as_list([a, b]))]}),
        lambda a, b: yaml.safe_dump([[a], [b]]),
        lambda a, b: yaml.safe_dump({"kind": "List", "items": [json.loads(as_list([a, b]))]}),
    ],
)
def test_documents_on_one_line_and_nested_lists_are_read(text: Callable[[Manifest, Manifest], str]) -> None:
    """As ``cat``, the jsonpath of kubectl and ``jq -s`` write them."""
    first = node("a")
    first["metadata"]["annotations"] = {"kubernetes.io/text": '}{ "\\" ] ['}
    objects, report = imported(text(first, node("b")))
    assert {("nodes", "a"), ("nodes", "b")} <= set(objects)
    assert report.came == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the dump is empty"),
        (b'{"kind": "List", "items": [', "not JSON"),
        (b"a: [1", "line 2, column 1: not YAML"),
        (b"\xff\xfd", "not UTF-8"),
        (b"\xff\xfe", "the dump is empty"),
        (b"\x1f\x8bno", "not gzip"),
        (b"kind: List\nitems:\n- kind: Pod\n- kind: *nobody\n", 'line 4: unknown alias "nobody"'),
        (
            b'{"kind": "Pod"}\n{"kind": "Pod",\n"spec": }\n',
            "line 3: not JSON that kubectl prints: JSON is malformed",
        ),
        (b'{"kind": "Pod",\n"metadata"', "line 2: not JSON that kubectl prints: Input data was truncated"),
        (b'{"a":' * 100_000, "not JSON that kubectl prints: nested too deeply"),
        (b"a: 1\n" * (7 << 20), "use -o json"),
        (b'{"kind":"Recording","sandbox":"x"}\n{"kind":"Lie"}', "line 2: not a record of a recording"),
    ],
)
def test_a_text_that_is_no_dump_is_refused_with_one_line(text: bytes, said: str) -> None:
    with pytest.raises(ManifestError) as refused:
        imported(text)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_compressed_file_of_zeros_is_unpacked_up_to_the_bound_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.dumps.dump_files.MAX_DUMP_BYTES", 1000)
    with pytest.raises(ManifestError, match="more than"):
        Dump(gzip.compress(bytes(10_000_000)))
