"""The functions that expressions may call, and the environments that know them.

Upstream: apiserver/pkg/cel/environment/base.go, v1.34. What is stored may use all that v1.34 knows; a new
expression only what v1.33 knows, too, so that the cluster can go back to it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from simulator.cel import (
    authorizers,
    extended_lists,
    formats,
    formatting,
    lists,
    networks,
    quantities,
    regexes,
    semvers,
    standard,
    strings,
    urls,
)
from simulator.cel.functions import Function, Signature
from simulator.cel.macros import BIND, SORT_BY, STANDARD_MACROS, TWO_VARIABLES, Macros
from simulator.cel.signatures import (
    COMPREHENSION_SIGNATURES,
    NUMERIC_SIGNATURES,
    OPTIONAL_SIGNATURES,
    STANDARD_SIGNATURES,
    Signatures,
)

_BEFORE_1_34: Final = (
    *standard.OPTIONAL_FUNCTIONS,
    *strings.FUNCTIONS,
    *lists.FUNCTIONS,
    *regexes.FUNCTIONS,
    *quantities.FUNCTIONS,
    *semvers.FUNCTIONS,
    *networks.FUNCTIONS,
    *urls.FUNCTIONS,
    *formats.FUNCTIONS,
    *formatting.FUNCTIONS,
    *authorizers.FUNCTIONS,
)


def _by_name(functions: Iterable[Function]) -> Mapping[str, tuple[Function, ...]]:
    in_order = sorted(functions, key=lambda each: each.name)
    return {name: tuple(found) for name, found in groupby(in_order, key=lambda each: each.name)}


LIBRARY: Final = _by_name((*standard.FUNCTIONS, *_BEFORE_1_34, *extended_lists.FUNCTIONS))
"""All functions with an implementation for each overload, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """The functions and macros that an expression may use. Equal only to itself."""

    signatures: Signatures
    """The overloads of all functions."""
    macros: Macros
    is_of_kubernetes: bool
    """Whether ``a.?b``, ``a[?b]`` and the like are allowed, and literals are checked: those of durations,
    times and patterns must be such, and all elements of a list must be of one type."""


def _make_environment(
    signatures: Iterable[Signatures], functions: Iterable[Function], macros: Macros, *, is_of_kubernetes: bool
) -> Environment:
    found: dict[str, tuple[Signature, ...]] = {}
    for table in (*signatures, {name: _signatures(each) for name, each in _by_name(functions).items()}):
        for name, overloads in table.items():
            found[name] = found.get(name, ()) + overloads
    return Environment(found, macros, is_of_kubernetes)


def _signatures(functions: Iterable[Function]) -> tuple[Signature, ...]:
    return tuple(each.signature for each in functions)


def without(environment: Environment, *names: str) -> Environment:
    """Return an environment without some functions."""
    kept = {name: found for name, found in environment.signatures.items() if name not in names}
    return replace(environment, signatures=kept)


def with_bind(environment: Environment) -> Environment:
    """Return an environment with ``cel.bind``."""
    return replace(environment, macros={**environment.macros, **BIND})


STANDARD: Final = _make_environment(
    [STANDARD_SIGNATURES], standard.FUNCTIONS, STANDARD_MACROS, is_of_kubernetes=False
)
"""CEL without extensions."""
_TABLES: Final = (STANDARD_SIGNATURES, NUMERIC_SIGNATURES, OPTIONAL_SIGNATURES, COMPREHENSION_SIGNATURES)
_MACROS: Final = {**STANDARD_MACROS, **TWO_VARIABLES}
NEW_EXPRESSIONS: Final = _make_environment(
    _TABLES, (*standard.FUNCTIONS, *_BEFORE_1_34), _MACROS, is_of_kubernetes=True
)
"""What v1.33 knows, too (environment.NewExpressions)."""
STORED_EXPRESSIONS: Final = _make_environment(
    _TABLES,
    (*standard.FUNCTIONS, *_BEFORE_1_34, *extended_lists.FUNCTIONS),
    {**_MACROS, **SORT_BY},
    is_of_kubernetes=True,
)
"""All that v1.34 knows (environment.StoredExpressions)."""
