"""The functions that expressions may call, and the environments that know them.

Upstream: apiserver/pkg/cel/environment/base.go. What is stored may use all that this version knows; a new
expression only what the version before knows, too, so that the cluster can go back to it.
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
from simulator.cel.functions import Environment, Function, Signature
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


FUNCTIONS: Final = _by_name(
    (*standard.FUNCTIONS, *_BEFORE_1_34, *extended_lists.FUNCTIONS, extended_lists.INCLUDES)
)
"""All functions with an implementation for each overload, by name."""


@dataclass(frozen=True, slots=True)
class Library:
    """The functions and macros that an environment knows."""

    signatures: Signatures
    """The overloads of all functions."""
    macros: Macros
    is_of_kubernetes: bool
    """Whether ``a.?b``, ``a[?b]`` and the like are allowed, and literals are checked: those of durations,
    times and patterns must be such, and all elements of a list must be of one type."""


def _make_library(
    tables: Iterable[Signatures],
    functions: Iterable[Function],
    macros: Macros,
    *,
    is_of_kubernetes: bool = True,
) -> Library:
    of_functions = {
        name: tuple(each.signature for each in found) for name, found in _by_name(functions).items()
    }
    known: dict[str, tuple[Signature, ...]] = {}
    for table in (*tables, of_functions):
        for name, overloads in table.items():
            known[name] = known.get(name, ()) + overloads
    return Library(known, macros, is_of_kubernetes)


_TABLES: Final = (STANDARD_SIGNATURES, NUMERIC_SIGNATURES, OPTIONAL_SIGNATURES, COMPREHENSION_SIGNATURES)
_NEW: Final = _make_library(
    _TABLES, (*standard.FUNCTIONS, *_BEFORE_1_34), {**STANDARD_MACROS, **TWO_VARIABLES}
)
_STORED: Final = _make_library(
    _TABLES,
    (*standard.FUNCTIONS, *_BEFORE_1_34, *extended_lists.FUNCTIONS),
    {**STANDARD_MACROS, **TWO_VARIABLES, **SORT_BY},
)
_PLAIN: Final = {name: found for name, found in STANDARD_SIGNATURES.items() if name != "matches"}
LIBRARIES: Final[Mapping[Environment, Library]] = {
    Environment.STORED_EXPRESSIONS: _STORED,
    Environment.NEW_EXPRESSIONS: _NEW,
    Environment.STORED_SELECTORS: replace(_STORED, macros={**_STORED.macros, **BIND}),
    Environment.NEW_SELECTORS: replace(_NEW, macros={**_NEW.macros, **BIND}),
    Environment.LIST_SELECTORS: replace(
        _STORED,
        signatures={**_STORED.signatures, extended_lists.INCLUDES.name: (extended_lists.INCLUDES.signature,)},
        macros={**_STORED.macros, **BIND},
    ),
    Environment.CONDITIONS: _make_library(
        [_PLAIN], standard.FUNCTIONS, STANDARD_MACROS, is_of_kubernetes=False
    ),
}
