"""Validates a value against the alternatives of its schema: allOf, anyOf, oneOf and not.

Upstream: schemaPropsValidator in kube-openapi/pkg/validation/validate/schema_props.go, as v1.34 uses it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from simulator.apiserver.status import Cause, invalid
from simulator.kernel.go_text import quote
from simulator.kernel.work import spend_work

Schema = dict[str, Any]
FindFaults = Callable[[Schema, Any, str], Iterator[Cause]]


def junctor_faults(schema: Schema, value: Any, path: str, find_faults: FindFaults) -> Iterator[Cause]:
    """Yield what of a value does not fit the alternatives. If none of them fits, the faults of the one that
    has most to say about the value follow."""
    yield from _any_faults(schema.get("anyOf") or [], value, path, find_faults)
    yield from _one_faults(schema.get("oneOf") or [], value, path, find_faults)
    yield from _all_faults(schema.get("allOf") or [], value, path, find_faults)
    negated = schema.get("not")
    if isinstance(negated, dict) and not any(find_faults(negated, value, path)):
        yield _fault(path, "must not validate the schema (not)")


def _any_faults(schemas: list[Schema], value: Any, path: str, find_faults: FindFaults) -> Iterator[Cause]:
    found = [[*find_faults(each, value, path)] for each in schemas]
    if found and all(found):
        yield _fault(path, "must validate at least one schema (anyOf)")
        yield from _of_best(schemas, found, value)


def _one_faults(schemas: list[Schema], value: Any, path: str, find_faults: FindFaults) -> Iterator[Cause]:
    found = [[*find_faults(each, value, path)] for each in schemas]
    fitting = sum(not faults for faults in found)
    if not found or fitting == 1:
        return
    detail = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
    yield _fault(path, f"must validate one and only one schema (oneOf). {detail}")
    if not fitting:
        yield from _of_best(schemas, found, value)


def _all_faults(schemas: list[Schema], value: Any, path: str, find_faults: FindFaults) -> Iterator[Cause]:
    found = [[*find_faults(each, value, path)] for each in schemas]
    for faults in found:
        yield from faults
    if any(found):
        detail = ". None validated" if all(found) else ""
        yield _fault(path, f"must validate all the schemas (allOf){detail}")


def _fault(path: str, detail: str) -> Cause:
    """Return the fault of a junctor. Upstream's error has no field; the text contains it."""
    return invalid("<nil>", "", f"{quote(path)} {detail}")


def _of_best(schemas: list[Schema], found: list[list[Cause]], value: Any) -> list[Cause]:
    """Return the faults of the alternative with which most parts of the value are compared, the first of
    several."""
    counts = [_count_compared(schema, value) for schema in schemas]
    return found[counts.index(max(counts))]


def _count_compared(schema: Schema, value: Any) -> int:
    spend_work(1)
    match value:
        case dict():
            fields = schema.get("properties") or {}
            return 1 + sum(_count_compared(fields[name], value[name]) for name in value if name in fields)
        case list() if isinstance(schema.get("items"), dict):
            return 1 + sum(_count_compared(schema["items"], item) for item in value)
    return 1
