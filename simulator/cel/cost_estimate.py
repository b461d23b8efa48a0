"""Estimates the cost of an expression before it is evaluated (cel-go checker/cost.go, coster; v0.26).

Kubernetes counts no cost of ``has(...)`` (apiserver/pkg/cel/environment/base.go).
"""

from functools import reduce
from typing import Final

from simulator.cel.call_estimates import NEW_LIST, NEW_MAP, NEW_OBJECT, CallEstimate, estimate_call
from simulator.cel.call_estimates import Call as CallParts
from simulator.cel.checker import Checked
from simulator.cel.cost_ranges import NOTHING, ONE, UNBOUNDED, UNKNOWN, Range, add, fixed, multiply
from simulator.cel.declared_sizes import ITEMS, KEYS, VALUES, DeclaredSize, Limits
from simulator.cel.estimated_sizes import (
    NO_PATH,
    EntrySize,
    Local,
    Operand,
    Path,
    find_size,
    is_scalar,
    literal_size,
)  # fmt: skip
from simulator.cel.functions import Signature
from simulator.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    ListLiteral,
    MapLiteral,
    MessageLiteral,
    Name,
    Node,
    Select,
    Tree,
    get_name,
)  # fmt: skip
from simulator.cel.types import DYN, PRIMITIVES, Type

_NO_ENTRY: Final = Range(UNBOUNDED, 0)
"""The range to which those of entries are joined."""
_INDICES: Final = "@indices"
_ACCUMULATORS: Final = ("@result", "__result__")
_WITHOUT_FIELDS: Final = (*PRIMITIVES, "dyn", "any", "optional_type", "list", "null", "type")


def estimate_cost(tree: Tree, checked: Checked, root: DeclaredSize, limits: Limits | None = None) -> Range:
    """Return the range of the cost. root: has the variables as fields."""
    estimator = _Estimator(checked, root, limits)
    cost = estimator.cost(tree.root)
    return Range(cost.least, add(cost.most, estimator.in_loops))


class _Estimator:
    def __init__(self, checked: Checked, root: DeclaredSize, limits: Limits | None) -> None:
        self._limits = limits
        self._unknown = Range(0, limits.size) if limits else UNKNOWN
        self._times = 1
        """How many times the present node is evaluated at most, where the iterations are limited."""
        self.in_loops = 0
        """The cost of the turns of all loops, where the iterations are limited. It is not in that of the
        loops then."""
        self._checked = checked
        self._root = root
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, EntrySize] = {}
        self._locals: dict[str, Local] = {}

    def cost(self, node: Node) -> Range:
        if isinstance(node, Constant):
            return NOTHING
        if isinstance(node, Name):
            return self._cost_name(node, node.name)
        if isinstance(node, Select):
            return self._cost_select(node)
        if isinstance(node, Call):
            return self._cost_call(node)
        if isinstance(node, ListLiteral):
            return self._cost_list(node)
        if isinstance(node, MapLiteral):
            return self._cost_map(node)
        if isinstance(node, Comprehension):
            return self._cost_bind(node) if _is_bind(node) else self._cost_loop(node)
        assert isinstance(node, MessageLiteral)
        return _sum([self.cost(each) for _, each in node.fields]).add(fixed(NEW_OBJECT))

    def _cost_name(self, node: Node, name: str) -> Range:
        local = self._locals.get(name)
        self._paths[node.id] = local.path if local else NO_PATH.extend(name)
        return ONE

    def _cost_select(self, node: Select) -> Range:
        if node.id in self._checked.variables:
            return self._cost_name(node, get_name(node))
        cost = self.cost(node.operand)
        if node.only_tests:
            return cost
        self._paths[node.id] = self._path(node.operand).extend(node.field)
        return cost if self._type(node.operand).name in _WITHOUT_FIELDS else cost.add(ONE)

    def _cost_call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0])
            self._copy_sizes(node, node.arguments[0])
            return cost.add(ONE)
        costs, arguments = [], []
        for each in node.arguments:
            costs.append(self.cost(each))
            arguments.append(self._operand(each))
        function, target, cost = node.function.removeprefix("."), None, NOTHING
        if node.target is not None and node.id in self._checked.qualified:
            function = f"{get_name(node.target)}.{function}".removeprefix(".")
        elif node.target is not None:
            cost, target = self.cost(node.target), self._operand(node.target)
        call = CallParts(target, tuple(arguments))
        estimates = [
            self._estimate(node, function, each, call, costs) for each in self._checked.signatures[node.id]
        ]
        return cost.add(reduce(Range.join, (each.cost for each in estimates)))

    def _estimate(
        self, node: Call, function: str, signature: Signature | None, call: CallParts, costs: list[Range]
    ) -> CallEstimate:
        """Return the estimate of one overload; None = that of a selection (``a.?b``)."""
        parameters = tuple(each.name for each in signature.parameters) if signature else ()
        found = self._estimate_operator(node, function, call, costs)
        if found is None:
            found = estimate_call(function, signature.parameters if signature else (), call)
            found = CallEstimate(found.cost.add(_sum(costs)), found.size)
        if function == "_+_" and parameters[0] in ("string", "bytes", "list"):
            self._join_entries(node, *node.arguments)
        known = self._sizes.get(node.id)
        size = found.size.join(known) if found.size and known else found.size or known
        if function == "_[_]" and parameters[0] in ("list", "map"):
            entry = self._entry(node.arguments[0])
            size = entry.value if entry else None
            step = ITEMS if parameters[0] == "list" else VALUES
            self._paths[node.id] = self._path(node.arguments[0]).extend(step)
        size = size or self._size(node)
        if size:
            self._sizes[node.id] = size
        return found

    def _estimate_operator(
        self, node: Call, function: str, call: CallParts, costs: list[Range]
    ) -> CallEstimate | None:
        """Return the estimate of an operator that does not evaluate all of its arguments."""
        if function in ("_&&_", "_||_"):
            return CallEstimate(Range(costs[0].least, costs[0].add(costs[1]).most))
        if function == "_?_:_":
            self._join_entries(node, *node.arguments[1:])
            return CallEstimate(costs[0].add(costs[1].join(costs[2])), call.size(1).join(call.size(2)))
        return None

    def _join_entries(self, node: Node, one: Node, other: Node) -> None:
        entry = self._entry(one)
        joined = entry and entry.join(self._entry(other))
        if joined:
            self._entries[node.id] = joined

    def _cost_list(self, node: ListLiteral) -> Range:
        cost = fixed(NEW_LIST)
        for each in node.elements:
            cost = cost.add(self.cost(each))
        self._entries[node.id] = EntrySize(True, ONE, self._join_sizes(node.elements))
        return cost

    def _cost_map(self, node: MapLiteral) -> Range:
        cost = fixed(NEW_MAP)
        for each in node.entries:
            cost = cost.add(self.cost(each.key)).add(self.cost(each.value))
        keys = self._join_sizes(tuple(each.key for each in node.entries))
        values = self._join_sizes(tuple(each.value for each in node.entries))
        self._entries[node.id] = EntrySize(False, keys, values)
        return cost

    def _join_sizes(self, nodes: tuple[Node, ...]) -> Range:
        sizes = [self._size(each) or self._unknown for each in nodes]
        return reduce(Range.join, sizes, _NO_ENTRY) if sizes else NOTHING

    def _cost_bind(self, node: Comprehension) -> Range:
        cost = self.cost(node.over).add(self.cost(node.start))
        outer = self._locals
        self._locals = {**outer, node.accumulator: self._local(node.start)}
        cost = cost.add(self.cost(node.result))
        self._locals = outer
        self._copy_sizes(node, node.result)
        return cost

    def _cost_loop(self, node: Comprehension) -> Range:
        cost = self.cost(node.over).add(self.cost(node.start))
        outer = self._locals
        with_result = {**outer, node.accumulator: self._local(node.start)}
        self._locals = {**with_result, **self._iterated(node)}
        times, self._times = self._times, self._count_turns(node)
        turn = self.cost(node.condition).add(self.cost(node.step))
        turns, self._times = self._times, times
        self._locals = with_result
        cost = cost.add(self.cost(node.result))
        self._locals = outer
        count = self._size(node.over) or self._unknown
        if isinstance(node.start, ListLiteral | MapLiteral):
            self._sizes[node.id] = count
            step = self._entry(node.step)
            if step:
                self._entries[node.id] = step
        elif isinstance(node.start, Constant):
            self._sizes[node.id] = self._size(node.start) or self._unknown
        if self._limits is None:
            return cost.add(count.multiply(turn))
        self.in_loops = add(self.in_loops, multiply(turn.most, turns))
        return cost

    def _count_turns(self, node: Comprehension) -> int:
        """Return the number of turns of all evaluations of a loop."""
        if self._limits is None:
            return 1
        count = self._size(node.over) or self._unknown
        return min(multiply(count.most, self._times), self._limits.iterations)

    def _iterated(self, node: Comprehension) -> dict[str, Local]:
        """Return the variables of a loop."""
        entry, path = self._entry(node.over), self._path(node.over)
        is_list = entry.is_list if entry else self._type(node.over).name == "list"
        found = {}
        if node.second_variable or not is_list:
            step = _INDICES if is_list else KEYS
            found[node.variable] = Local(path.extend(step), entry.key if entry else None)
        if node.second_variable or is_list:
            step = ITEMS if is_list else VALUES
            name = node.second_variable or node.variable
            found[name] = Local(path.extend(step), entry.value if entry else None)
        return found

    def _local(self, node: Node) -> Local:
        return Local(self._path(node), self._size(node), self._entry(node))

    def _operand(self, node: Node) -> Operand:
        size = self._size(node) or (self._unknown if self._limits else None)
        return Operand(node, self._type(node), size, self._path(node), self._root, self._unknown)

    def _type(self, node: Node) -> Type:
        return self._checked.types.get(node.id, DYN)

    def _path(self, node: Node) -> Path:
        local = self._locals.get(node.name) if isinstance(node, Name) else None
        return local.path if local else self._paths.get(node.id, NO_PATH)

    def _copy_sizes(self, to: Node, source: Node) -> None:
        size, entry = self._size(source), self._entry(source)
        if size:
            self._sizes[to.id] = size
        if entry:
            self._entries[to.id] = entry

    def _size(self, node: Node) -> Range | None:
        """Return the size of the value of an expression, if it is known."""
        found = self._sizes.get(node.id) or literal_size(node)
        if found:
            return found
        found = find_size(self._root, self._path(node).read())
        if found:
            self._sizes[node.id] = found
            return found
        if is_scalar(self._type(node)):
            return ONE
        local = self._locals.get(node.name) if isinstance(node, Name) else None
        return local.size if local else None

    def _entry(self, node: Node) -> EntrySize | None:
        found = self._entries.get(node.id)
        local = self._locals.get(node.name) if isinstance(node, Name) else None
        return found or (local.entry if local else None)


def _sum(costs: list[Range]) -> Range:
    return reduce(Range.add, costs, NOTHING)


def _is_bind(node: Comprehension) -> bool:
    return (
        isinstance(node.over, ListLiteral)
        and not node.over.elements
        and isinstance(node.condition, Constant)
        and node.condition.value is False
        and node.accumulator not in _ACCUMULATORS
    )
