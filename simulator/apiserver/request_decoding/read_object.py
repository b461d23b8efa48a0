"""Reads a body, in JSON or YAML, and notes which keys it repeats."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from simulator.apiserver.bounds import (
    MAX_DEPTH,
    ManifestError,
    count_values,
    parse_finite_float,
    parse_integer,
)
from simulator.apiserver.json_syntax import find_syntax_fault
from simulator.apiserver.served_features import served_version
from simulator.apiserver.yaml_reader import Loader, check_bounds
from simulator.kernel.go_text import quote

_YAML = "tag:yaml.org,2002:"
YAML_ERRORS: Final = "yaml: unmarshal errors:"
"""The first line of the error of a YAML text that can be read, and is wrong."""
_ESCAPED: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([0-9a-fA-F]{4})|.)"
)


class UnreadableBody(Exception):
    """The body is neither JSON nor YAML. The message is upstream's."""


_DECODED_LEVELS: Final = 100
"""The recorded answers refuse 200 levels; how many are refused is not known."""
_MARKS: Final = re.compile(r'\\.|["\[\]{}]')
"""What is escaped in a string, a quotation mark, or a bracket."""


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
    try:
        value = json.loads(
            _without_lone_surrogates(text),
            object_pairs_hook=_recorded,
            parse_int=parse_integer,
            parse_float=parse_finite_float,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError) as error:
        fault = find_syntax_fault(text.encode(errors="replace"))
        if fault:
            raise UnreadableBody(fault) from None
        if isinstance(error, ManifestError):
            raise
        _check_depth(text)
        raise ManifestError(f"nested deeper than {max_depth} levels") from None
    try:
        count_values(value, min(max_depth, _DECODED_LEVELS))
    except ManifestError:
        _check_depth(text)
        count_values(value, max_depth)
    return value


def _check_depth(text: str) -> None:
    """Raise UnreadableBody for a JSON text of more levels than the decoder of the version reads."""
    if not served_version().unreadable_bodies_are_refused:
        return
    depth, in_string = 0, False
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark == '"':
            in_string = not in_string
        elif not in_string and len(mark) == 1:
            depth += 1 if mark in "[{" else -1
        if depth > _DECODED_LEVELS:
            raise UnreadableBody(f"invalid character '{mark}' exceeded max depth")


def _refuse_constant(name: str) -> None:
    """Refuse the numbers that JSON does not have, and Python's reader takes: NaN, Infinity, -Infinity."""
    raise ValueError(name)


def _without_lone_surrogates(text: str) -> str:
    """A JSON text in which halves of UTF-16 pairs are replaced, as Go's decoder does."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPED.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    is_lone = found[1] is not None and found[1].lower().startswith(tuple(f"d{digit}" for digit in "89abcdef"))
    return r"\ufffd" if is_lone else found[0]


def _recorded(pairs: list[tuple[str, Any]]) -> RecordedObject:
    found = RecordedObject(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        found.repeated = tuple(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return found


class YamlBody(NamedTuple):
    value: Any
    repeated: str
    """The error of goyaml.v2's strict decoder for the keys that the text repeats; "" if there are none
    (setMapIndex in decode.go)."""


def read_yaml_body(text: str) -> YamlBody:
    """Parse the first document of a YAML text as goyaml.v2 does. Raises UnreadableBody, and ManifestError
    beyond the bounds of a request."""
    try:
        check_bounds(text)
        loader = _Yaml11Loader(text)
        document = loader.get_node() if loader.check_node() else None
        if document is None:
            return YamlBody(None, "")
        faults = [*_repeated_keys(document)]
        return YamlBody(
            loader.construct_document(document), "\n  ".join((YAML_ERRORS, *faults)) if faults else ""
        )
    except yaml.MarkedYAMLError as error:
        raise UnreadableBody(f"yaml: {_place(error)}{error.problem}") from None
    except yaml.reader.ReaderError:
        raise UnreadableBody("yaml: control characters are not allowed") from None


def _place(error: yaml.MarkedYAMLError) -> str:
    """Return the line as goyaml.v2 counts it (fail in decode.go)."""
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            line = mark.line + isinstance(error, yaml.scanner.ScannerError)
            return f"line {line}: "
    return ""


def _repeated_keys(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            yield from _repeated_keys(value)
            if not isinstance(key, yaml.ScalarNode):
                continue  # which is refused
            if key.value in seen:
                yield f"line {value.start_mark.line + 1}: key {quote(key.value)} already set in map"
            seen.add(key.value)


class _Yaml11Loader(Loader):
    """A loader of YAML 1.1, in which ``yes``, ``on`` and ``y`` are true."""

    yaml_implicit_resolvers = {key: [*value] for key, value in Loader.yaml_implicit_resolvers.items()}
    yaml_constructors = {**Loader.yaml_constructors}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            node.value = [*{key.value: (key, value) for key, value in node.value}.values()]
        return super().construct_mapping(node, deep)


def _construct_bool(_: Any, node: yaml.ScalarNode) -> bool:
    return node.value.lower() in ("y", "yes", "on", "true")


_Yaml11Loader.add_constructor(f"{_YAML}bool", _construct_bool)
_Yaml11Loader.add_implicit_resolver(
    f"{_YAML}bool",
    re.compile(r"(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)\Z"),
    [*"yYoOnN"],
)
