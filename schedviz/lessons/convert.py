"""Finds the mistakes of plain values that are not of a lesson's types. Unlike in msgspec's own message, the
path of a mistake has the indices of lists; and all mistakes are found."""

import difflib
import re
import types
from collections.abc import Iterator
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from schedviz.lessons.mistakes import LessonError, YamlFile
from simulator.apiserver.manifest import ManifestError, parse_documents
from simulator.kernel.prepared_types import prepared

_PLACE: Final = re.compile(r" - at `.*`\Z")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`\Z")

Content = TypeVar("Content")


def convert_document(file: YamlFile, kind: type[Content]) -> Content:
    """Return the content of a file with one document. Raises LessonError, as the rest cannot be checked
    without it."""
    try:
        documents = parse_documents(file.text)
    except ManifestError as error:
        file.add_syntax_error(error)
        raise LessonError(file.mistakes) from None
    if len(documents) != 1:
        file.add("", f"must have one document, not {len(documents)}")
        raise LessonError(file.mistakes)
    for path, message in find_type_mistakes(kind, documents[0]):
        file.add(path, message)
    if file.mistakes:
        raise LessonError(file.mistakes)
    return msgspec.convert(documents[0], prepared(kind))


def find_type_mistakes(kind: Any, value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the message of each mistake of a value that is not of the type ``kind``."""
    try:
        msgspec.convert(value, prepared(kind))
        return
    except msgspec.ValidationError as error:
        message = _PLACE.sub("", str(error))
    found = [mistake for part in _parts(kind, value, path) for mistake in find_type_mistakes(*part)]
    yield from found or [_own_mistake(kind, path, message)]


def _parts(kind: Any, value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the parts of a value, each with its type and its path."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        yield from _parts(next(each for each in arguments if each is not type(None)), value, path)
    elif origin is list and isinstance(value, list):
        yield from ((arguments[0], each, f"{path}[{index}]") for index, each in enumerate(value))
    elif origin is dict and isinstance(value, dict):
        yield from ((arguments[1], each, f"{path}[{key}]") for key, each in value.items())
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = _fields(kind)
        yield from ((fields[key], each, _join(path, key)) for key, each in value.items() if key in fields)


def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the types of a struct's fields by their names in the file."""
    hints = get_type_hints(kind)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return {encoded: hints[name] for name, encoded in names}


def _own_mistake(kind: Any, path: str, message: str) -> tuple[str, str]:
    unknown = _UNKNOWN.match(message)
    if unknown is None:
        return path, message[:1].lower() + message[1:]
    struct = next(
        each
        for each in (kind, *get_args(kind))
        if isinstance(each, type) and issubclass(each, msgspec.Struct)
    )
    close = difflib.get_close_matches(unknown[1][:100], _fields(struct), n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return _join(path, unknown[1]), f"unknown field{hint}"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
