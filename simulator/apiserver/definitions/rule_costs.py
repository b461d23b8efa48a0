"""The limits of the estimated costs of a schema's rules.

Upstream: TotalCost and CELSchemaContext in apiextensions-apiserver/pkg/apis/apiextensions/validation/
cel_validation.go, and getCostErrorMessage and validateCustomResourceDefinitionValidation in validation.go,
v1.34.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from simulator.apiserver.status import Cause, forbidden
from simulator.cel.cost_ranges import add, multiply

RULE_LIMIT: Final = 10_000_000
"""The maximum estimated cost of a rule (StaticEstimatedCostLimit)."""
SCHEMA_LIMIT: Final = 100_000_000
"""The maximum estimated cost of all rules of a definition (StaticEstimatedCRDCostLimit)."""
_NAMED: Final = 4
"""The most expensive rules that a message of the total names."""
_ADVICE: Final = (
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
    "strings are declared"
)
_CONTRIBUTED: Final = (
    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
)
_TOTAL: Final = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"


class Cost(NamedTuple):
    """The estimated cost of an expression, with its path."""

    path: str
    cost: int


def cost_fault(name: str, cost: Cost, limit: int = RULE_LIMIT) -> Iterator[Cause]:
    """Yield that a cost is over its limit, if it is."""
    if cost.cost <= limit:
        return
    factor = float(cost.cost) / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    yield forbidden(cost.path, f"{name} exceeds budget by factor of {shown} ({_ADVICE})")


def total_faults(costs: Iterable[Cost], path: str) -> Iterator[Cause]:
    """Yield that all expressions of a schema together cost too much, if they do."""
    known, total = [*costs], 0
    for each in known:
        total = add(total, each.cost)
    if total <= SCHEMA_LIMIT:
        return
    large = [each for each in known if each.cost >= SCHEMA_LIMIT // 100]
    for each in sorted(large, key=lambda each: -each.cost)[:_NAMED]:
        yield forbidden(each.path, _CONTRIBUTED)
    yield from cost_fault(_TOTAL, Cost(path, total), SCHEMA_LIMIT)


def repetitions_below(schema: dict[str, Any], above: int | None) -> int | None:
    """Return how often the values below a schema can be there; None = nothing bounds it. ``above``: the same
    of the schema's own values."""
    limit: Any = 1
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    return None if above is None or limit is None else multiply(above, max(int(limit), 0))
