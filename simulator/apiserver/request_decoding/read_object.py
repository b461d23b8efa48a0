"""Reads a body, in JSON or YAML, and notes which keys it repeats."""

import json
import re
from typing import Any

import yaml

from simulator.apiserver.bounds import (
    MAX_DEPTH,
    ManifestError,
    count_values,
    parse_finite_float,
    parse_integer,
)
from simulator.apiserver.request_decoding.json_syntax import find_syntax_fault
from simulator.apiserver.yaml_reader import Loader, check_bounds

_YAML = "tag:yaml.org,2002:"


class UnreadableBody(Exception):
    """The body is neither JSON nor YAML. The message is upstream's."""


class RecordedObject(dict[str, Any]):
    """An object. ``repeated``: the keys that the text gives more than once; the last value is kept."""

    repeated: tuple[str, ...] = ()


def read_json_body(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """Parse the JSON text of an object, as :func:`read_json_value`."""
    try:
        return read_json_value(text, max_depth)
    except UnreadableBody as error:
        raise UnreadableBody(f"couldn't get version/kind; json parse error: {error}") from None


def read_json_value(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """Parse a JSON text. Raises UnreadableBody, and ManifestError beyond the bounds of a request."""
    fault = find_syntax_fault(text.encode(errors="replace"))
    if fault:
        raise UnreadableBody(fault)
    try:
        value = json.loads(
            text, object_pairs_hook=_recorded, parse_int=parse_integer, parse_float=parse_finite_float
        )
    except RecursionError:
        raise ManifestError(f"nested deeper than {max_depth} levels") from None
    count_values(value, max_depth)
    return value


def _recorded(pairs: list[tuple[str, Any]]) -> RecordedObject:
    found = RecordedObject(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        found.repeated = tuple(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return found


def read_yaml_body(text: str) -> Any:
    """Parse the first document of a YAML text as goyaml.v2 does. Raises UnreadableBody, and ManifestError
    beyond the bounds of a request."""
    try:
        check_bounds(text)
        return next(yaml.load_all(text, Loader=_Yaml11Loader), None)
    except yaml.MarkedYAMLError as error:
        raise UnreadableBody(f"yaml: {_place(error)}{error.problem}") from None
    except yaml.reader.ReaderError:
        raise UnreadableBody("yaml: control characters are not allowed") from None


def _place(error: yaml.MarkedYAMLError) -> str:
    """The line as goyaml.v2 counts it (fail in decode.go)."""
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            line = mark.line + isinstance(error, yaml.scanner.ScannerError)
            return f"line {line}: "
    return ""


class _Yaml11Loader(Loader):
    """``yes``, ``on`` and ``y`` are true, as in YAML 1.1."""

    yaml_implicit_resolvers = {key: [*value] for key, value in Loader.yaml_implicit_resolvers.items()}
    yaml_constructors = {**Loader.yaml_constructors}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        repeated = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1)) if _repeats(keys) else ()
        if repeated:
            node.value = [*{key.value: (key, value) for key, value in node.value}.values()]
        found = RecordedObject(super().construct_mapping(node, deep))
        found.repeated = repeated
        return found


def _repeats(keys: list[str]) -> bool:
    return len(set(keys)) < len(keys)


def _construct_bool(_: Any, node: yaml.ScalarNode) -> bool:
    return node.value.lower() in ("y", "yes", "on", "true")


def _construct_map(loader: _Yaml11Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    """PyYAML's own one copies the object."""
    return loader.construct_mapping(node)


_Yaml11Loader.add_constructor(f"{_YAML}bool", _construct_bool)
_Yaml11Loader.add_constructor(f"{_YAML}map", _construct_map)
_Yaml11Loader.add_implicit_resolver(
    f"{_YAML}bool",
    re.compile(r"(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)\Z"),
    [*"yYoOnN"],
)
