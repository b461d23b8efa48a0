"""The columns of a Decision: an integer a node, and the nodes' names.

A reader uses them as sequences. They have two forms in JSON. The plain one, for people and other programs, is
a list. The stored one is short and quickly written: neighbours with equal values are counted, and the names,
which are the same in every Decision until a node comes or goes, are compressed once.
:func:`decision_decoder` reads both."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Ints, narrowed
from simulator.cluster.node_names import SHORT, NodeNames
from simulator.kernel.prepared_types import prepared

VALUES_A_RUN = 10
"""Average length of runs from which on equal neighbours are counted: a run takes about ten characters."""

T = TypeVar("T")


class _StoredColumn(msgspec.Struct, omit_defaults=True):
    """One of three forms of a long column."""

    runs: list[int] = []
    """The runs: value, count, value, count, ... of neighbours that are equal."""
    steps: list[int] = []
    """The first value; then the runs of the differences between neighbours."""
    width: int = 0
    """Number of bytes of an integer: 1, 2, 4 or 8."""
    bytes: str = ""
    """The bytes of all integers, little-endian, in base64."""


class IntColumn(Sequence[int]):
    """Integers, kept as an array until they are read. The array must not be changed afterwards."""

    __slots__ = ("_array", "_list", "_stored")

    @classmethod
    def shared(cls, values: NDArray[Any], before: "IntColumn | None") -> "IntColumn":
        """Return the column of the Decision before if it has the same values, else a new one. So most columns
        are encoded once and not for each Decision."""
        if before is not None and before._has(values):
            return before
        return cls(values)

    def __init__(self, values: NDArray[Any] | Iterable[int] = ()) -> None:
        self._stored: object = None
        self._array = values if isinstance(values, np.ndarray) else None
        self._list: list[int] | None = None if self._array is not None else [*values]

    def tolist(self) -> list[int]:
        """Return the values as a list, which must not be changed."""
        if self._list is None:
            self._list = self.array().tolist()
        return self._list

    def array(self) -> NDArray[Any]:
        if self._array is None:
            self._array = np.array(self._list, dtype=np.int64)
        return self._array

    def __len__(self) -> int:
        return len(self.tolist() if self._array is None else self._array)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return self.tolist()[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def count(self, value: int) -> int:
        return self.tolist().count(value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, IntColumn):
            return np.array_equal(self.array(), other.array())
        return self.tolist() == other

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return repr(self.tolist())

    def stored(self) -> object:
        """Return the stored form: a list where the column is short, else the first short form of
        :class:`_StoredColumn`, as JSON."""
        if self._stored is None:
            self._stored = self.tolist() if len(self) <= SHORT else msgspec.Raw(_short_form(self.array()))
        return self._stored

    def _has(self, values: NDArray[Any]) -> bool:
        """Whether these are the values of the array, with its type. Much faster than np.array_equal."""
        array = self._array
        if array is values:
            return True
        return array is not None and array.dtype == values.dtype and array.tobytes() == values.tobytes()

    @classmethod
    def read(cls, value: Any) -> "IntColumn":
        """Read either form."""
        if value is None:
            return UNSTORED
        if isinstance(value, list):
            return cls(msgspec.convert(value, list[int]))
        form = msgspec.convert(value, prepared(_StoredColumn))
        if form.runs:
            return cls(_expanded(form.runs))
        if form.steps:
            return cls(np.cumsum(np.append(form.steps[0], _expanded(form.steps[1:]))))
        return cls(np.frombuffer(b64decode(form.bytes), dtype=f"<i{form.width}"))


UNSTORED = IntColumn()
"""The marker for a column that is not stored because another one contains it."""


class SumColumn(IntColumn):
    """The sum of columns, each times its weight. It is worked out when it is read, and never stored."""

    __slots__ = ("_weighted",)

    def __init__(self, *weighted: tuple[IntColumn, int]) -> None:
        self._array = self._list = self._stored = None  # without super(): there are many sums in a Decision
        self._weighted = weighted

    def array(self) -> NDArray[Any]:
        if self._array is None:
            products = [np.multiply(column.array(), by, dtype=np.int64) for column, by in self._weighted]
            self._array = np.sum(products, axis=0)
        return self._array

    def __len__(self) -> int:
        return len(self._weighted[0][0])

    def stored(self) -> object:
        return None


def _short_form(array: NDArray[Any]) -> bytes:
    runs = _runs(array)
    if runs is not None:
        return msgspec.json.encode(_StoredColumn(runs=runs))
    if array.itemsize > 1:  # of small integers the bytes are short enough
        whole = array.astype(np.int64, copy=False)
        steps = _runs(whole[1:] - whole[:-1])
        if steps is not None:
            return msgspec.json.encode(_StoredColumn(steps=[int(array[0]), *steps]))
        array = narrowed(array)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    # Joined, as the encoder would look for characters to escape.
    return b'{"width":%d,"bytes":"%b"}' % (array.itemsize, b64encode(array.tobytes()))


def _runs(values: NDArray[Any]) -> list[int] | None:
    """Return value, count, value, count, ... of neighbours that are equal; None where these are many."""
    differ = values[1:] != values[:-1]
    if np.count_nonzero(differ) > len(values) // VALUES_A_RUN:
        return None
    ends = differ.nonzero()[0]
    found = np.empty((len(ends) + 1, 2), dtype=np.int64)
    found[:-1, 0], found[-1, 0] = values[ends], values[-1]
    found[:-1, 1], found[-1, 1] = ends + 1, len(values)
    found[1:, 1] -= found[:-1, 1].copy()
    runs: list[int] = found.ravel().tolist()
    return runs


def _expanded(runs: Any) -> Ints:
    expanded: Ints = np.repeat(np.array(runs[::2], dtype=np.int64), runs[1::2])
    return expanded


class TiedNames(NodeNames):
    """The names of the feasible nodes that share the top total, in the order of the nodes; with one feasible
    node, which is chosen without scores, its name. Worked out when they are read, and never stored."""

    __slots__ = ("_feasible", "_nodes", "_totals", "_worked_out")

    def __init__(self, nodes: NodeNames, feasible: IntColumn, totals: IntColumn) -> None:
        self._names, self._stored = [], None
        self._nodes = nodes
        self._feasible = feasible
        self._totals = totals
        self._worked_out = False

    def tolist(self) -> list[str]:
        if not self._worked_out:
            self._worked_out = True
            places, totals = self._feasible.array(), self._totals.array()
            if len(totals):
                places = np.sort(places[totals == totals.max()])
            elif len(places) > 1:
                places = places[:0]
            nodes = self._nodes.tolist()
            self._names = [nodes[place] for place in places.tolist()]
        return self._names

    def stored(self) -> object:
        return None


COLUMNS = frozenset((IntColumn, SumColumn, NodeNames, TiedNames))
"""The types of columns."""


def _stored(column: Any) -> object:
    # isinstance is slow for abstract classes, as sequences are.
    return column.stored() if type(column) in COLUMNS else _plain(column)


def _plain(column: Any) -> object:
    if type(column) in COLUMNS or isinstance(column, np.generic):  # a plugin may give NumPy's numbers
        return column.tolist()
    raise NotImplementedError(f"{type(column).__name__} has no form in JSON")


def _read(kind: Any, value: object) -> object:
    try:
        return kind.read(value)
    except (msgspec.ValidationError, zlib.error) as error:
        raise ValueError(error) from None  # to which msgspec adds the path


stored_encoder = msgspec.json.Encoder(enc_hook=_stored)
plain_encoder = msgspec.json.Encoder(enc_hook=_plain)


def decision_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type that contains Decisions, in either form."""
    return msgspec.json.Decoder(prepared(kind), dec_hook=_read)
