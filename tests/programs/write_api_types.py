"""Writes the data of a version's API types, which :mod:`simulator.apiserver.types.api_types` reads: all of
the newest version; of another one, what differs from it.

``python -m tests.programs.write_api_types VERSION FILE...``, as ``v1.36 go-types.json.gz more.json.gz``, the
newest version first.

Each file is JSON, compressed by gzip, with the Go side of the types. ``types``: full Go name
(``k8s.io/api/core/v1.PodSpec``) -> ``kind`` (struct, string, slice, map, ...), ``elem`` and ``key`` of slices
and maps, and the ``fields`` of structs in their order: each with ``json`` (its name), ``go``, ``type``
(``[]k8s.io/api/core/v1.Volume``), and, as far as they are set, ``pointer``, ``omitempty``, ``omitzero``,
``inline`` and ``protobuf`` (the tag). What decodes itself has no fields. The types of client-go's scheme, of
apiextensions-apiserver, kube-aggregator and the Status of apimachinery are needed.

The package kubernetes-validate brings the OpenAPI side: which fields are required, and how lists are merged.
"""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from simulator.apiserver.types import api_types
from simulator.apiserver.types.openapi_documents import schemas_of

Json = dict[str, Any]
_TARGET: Final = Path(api_types.__file__).parent
_TAGS: Final = {"pointer": "*", "omitempty": "e", "omitzero": "z", "inline": "i"}
_MERGING: Final = {
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-strategy": "strategy",
    "x-kubernetes-patch-merge-key": "key",
}


def main(version: str, *paths: str) -> None:
    go: Json = {}
    for path in paths:
        go |= json.loads(gzip.decompress(Path(path).read_bytes()))["types"]
    data = data_of(version, go)
    if version != api_types.NEWEST:
        newest = json.loads(gzip.decompress((_TARGET / f"{api_types.NEWEST}.json.gz").read_bytes()))
        data = {part: difference(newest[part], data[part]) for part in data}
    target = _TARGET / f"{version}.json.gz"
    target.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0))
    print(f"{target}: {len(data['types'])} types, {len(data['kinds'])} kinds, {target.stat().st_size} bytes")


def data_of(version: str, go_types: Json) -> Json:
    """Return the data of a version: those of all types that its OpenAPI documents name, and of the types in
    them. ``go_types``: by full Go name, as in the files."""
    go = {_full_name(name): of for name, of in go_types.items()}
    schemas = dict(schemas_of(version))
    kinds = {
        "/".join(filter(None, (kind["group"], kind["version"], kind["kind"]))): name
        for name, schema in sorted(schemas.items())
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }
    types: Json = {}
    waiting = sorted(schemas)
    while waiting:
        name = waiting.pop()
        if name in types or name not in go:
            continue
        types[name] = _type_of(go[name], schemas.get(name, {}))
        for field in go[name].get("fields", ()):
            if field.get("inline"):  # OpenAPI has the fields of this struct only
                schemas.setdefault(_full_name(field["type"]), schemas.get(name, {}))
        texts = [record[2] for record in types[name].get("fields", ())]
        texts += [types[name][part] for part in ("elem", "key") if part in types[name]]
        waiting += [each for text in texts for each in re.findall(r"io\.k8s\.[\w.-]+", text)]
    return {"kinds": kinds, "types": dict(sorted(types.items()))}


def difference(newest: Json, older: Json) -> Json:
    """Return what an older version has otherwise; null for what it does not have."""
    names = sorted(newest.keys() | older.keys())
    return {name: older.get(name) for name in names if newest.get(name) != older.get(name)}


def _full_name(text: str) -> str:
    """Return the types of a Go expression under the names that OpenAPI gives them: ``io.k8s.api.core.v1.Pod``
    for ``k8s.io/api/core/v1.Pod``."""
    return re.sub(r"k8s\.io(/[\w./-]+)", lambda found: "io.k8s" + found[1].replace("/", "."), text)


def _type_of(go: Json, schema: Json) -> Json:
    found: Json = {"kind": go["kind"]}
    found |= {part: _full_name(go[part]) for part in ("elem", "key") if part in go}
    if schema.get("x-kubernetes-map-type") == "atomic":
        found["atomic"] = True
    if go.get("fields"):
        found["fields"] = [_field_of(field, schema) for field in go["fields"]]
    return found


def _field_of(go: Json, schema: Json) -> list[Any]:
    """Return the name in JSON, the Go name, the type, flags, the number in Protocol Buffers, and how the
    value is merged."""
    name = go["json"]
    number = re.search(r",(\d+)", go.get("protobuf", ""))
    flags = "".join(flag for tag, flag in _TAGS.items() if go.get(tag))
    flags += "r" if name in schema.get("required", ()) else ""
    of = schema.get("properties", {}).get(name, {})
    merging = {short: of[key] for key, short in _MERGING.items() if key in of}
    return [name, go["go"], _full_name(go["type"]), flags, int(number[1]) if number else 0, merging]


if __name__ == "__main__":
    main(*sys.argv[1:])
