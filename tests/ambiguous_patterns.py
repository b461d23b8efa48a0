"""Finds the patterns of Python's ``re`` that may take more than linear time: those that can match one text in
a number of ways that grows with it (the criterion IDA of Weber and Seidl, On the degree of ambiguity of
finite automata, 1991).

A pattern becomes an automaton of its characters (Glushkov's). Assertions count as nothing, and a bounded
repetition as at most two: what they bound is not found to grow.
"""

import re._constants as sre
from collections import Counter
from collections.abc import Iterable, Iterator
from re import DOTALL, IGNORECASE
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, Literal, NamedTuple

ALPHABET: Final = [chr(code) for code in range(128)] + ["é", "٣", "漢", "\u2028"]
ALL: Final = (1 << len(ALPHABET)) - 1
"""Sets of characters are numbers, with a bit for each character of the alphabet."""
Mode = Literal["fullmatch", "match", "search"]


class Part(NamedTuple):
    """A part of a pattern. first, last: the positions at which it begins and ends, with the number of
    ways."""

    empty: bool
    first: Counter[int]
    last: Counter[int]


NOTHING: Final = Part(True, Counter(), Counter())


class Automaton:
    """The characters of a pattern by position, and which may follow which, in how many ways."""

    def __init__(self, pattern: str, flags: int, mode: Mode) -> None:
        self.chars: list[int] = []
        self.follow: list[Counter[int]] = []
        tree = parser.parse(pattern, flags)
        self._flags = tree.state.flags
        whole = self._sequence(tree)
        if mode == "fullmatch":
            whole = self._join(whole, self._one(ALL))
        if mode == "search":
            start = self._position(ALL)
            self.follow[start] += Counter([start]) + whole.first
        # Where the pattern can end, the search ends, and so it does in a loop that takes all to the end.
        self._ends = {*whole.last} if mode != "fullmatch" else self._takes_all(whole)

    def is_ambiguous(self) -> bool:
        reach = [self._reachable(place) for place in range(len(self.chars))]
        looping = [place for place in range(len(self.chars)) if place in reach[place]]
        if any(self.follow[a][b] > 1 and a in reach[b] for a in looping for b in self.follow[a]):
            return True
        ends = self._ends
        pairs = ((p, q) for p in looping for q in looping if p != q and q in reach[p] and q not in ends)
        return any(self._in_step(p, q, reach) for p, q in pairs)

    def _in_step(self, p: int, q: int, reach: list[set[int]]) -> bool:
        """Whether one text leads from p to p, from p to q, and from q to q."""
        waiting, seen = [(p, p, q)], {(p, p, q)}
        while waiting:
            a, b, c = waiting.pop()
            for x in self.follow[a]:
                if p not in reach[x]:
                    continue
                for y in self.follow[b]:
                    common = self.chars[x] & self.chars[y]
                    if not common or (y != q and q not in reach[y]):
                        continue
                    for z in self.follow[c]:
                        place = x, y, z
                        if place in seen or q not in reach[z] or not common & self.chars[z]:
                            continue
                        if place == (p, q, q):
                            return True
                        seen.add(place)
                        waiting.append(place)
        return False

    def _reachable(self, place: int) -> set[int]:
        found: set[int] = set()
        waiting = [*self.follow[place]]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += self.follow[each]
        return found

    def _takes_all(self, whole: Part) -> set[int]:
        (end,) = whole.last
        return {
            place
            for place, after in enumerate(self.follow)
            if self.chars[place] == ALL and place in after and end in after
        }

    def _one(self, chars: int) -> Part:
        place = Counter([self._position(chars)])
        return Part(False, place, place)

    def _position(self, chars: int) -> int:
        self.chars.append(chars)
        self.follow.append(Counter())
        return len(self.chars) - 1

    def _sequence(self, items: Any) -> Part:
        found = NOTHING
        for item in items:
            found = self._join(found, self._part(*item))
        return found

    def _join(self, left: Part, right: Part) -> Part:
        self._link(left, right)
        first = left.first + right.first if left.empty else left.first
        last = right.last + left.last if right.empty else right.last
        return Part(left.empty and right.empty, first, last)

    def _link(self, left: Part, right: Part) -> None:
        for a, ways in left.last.items():
            for b, more in right.first.items():
                self.follow[a][b] += ways * more

    def _part(self, kind: Any, given: Any) -> Part:
        match kind:
            case sre.SUBPATTERN:
                return self._sequence(given[-1])
            case sre.ATOMIC_GROUP:
                return self._sequence(given)
            case sre.BRANCH:
                parts = [self._sequence(each) for each in given[1]]
                return Part(
                    any(each.empty for each in parts),
                    sum((each.first for each in parts), Counter()),
                    sum((each.last for each in parts), Counter()),
                )
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                return self._repeat(*given)
            case sre.AT | sre.ASSERT | sre.ASSERT_NOT:
                # What comes behind may refuse, which a character stands for.
                behind = given[0] > 0 if kind is not sre.AT else "END" in str(given)
                return self._one(ALL) if behind else NOTHING
            case sre.GROUPREF:
                return self._repeat(0, sre.MAXREPEAT, [(sre.ANY, None)])
        return self._one(_bits(_chars(kind, given, self._flags)))

    def _repeat(self, least: int, most: int, item: Any) -> Part:
        found = NOTHING
        for _ in range(min(least, 2) if most != sre.MAXREPEAT else max(min(least, 2), 1)):
            last = self._sequence(item)
            found = self._join(found, last)
        if most == sre.MAXREPEAT:
            self._link(last, last)
            return found._replace(empty=found.empty or least == 0)
        return self._join(found, self._optional(item, min(most - least, 2)))

    def _optional(self, item: Any, times: int) -> Part:
        if not times:
            return NOTHING
        once = self._sequence(item)
        return self._join(once, self._optional(item, times - 1))._replace(empty=True)


def _bits(chars: Iterable[str]) -> int:
    wanted = {*chars}
    return sum(1 << index for index, each in enumerate(ALPHABET) if each in wanted)


def _chars(kind: Any, given: Any, flags: int) -> Iterator[str]:
    match kind:
        case sre.LITERAL:
            found = {chr(given) if chr(given) in ALPHABET else "漢"}
            yield from (
                {each for one in found for each in (one, one.lower(), one.upper())}
                if (flags & IGNORECASE)
                else found
            )
        case sre.NOT_LITERAL:
            yield from (each for each in ALPHABET if each != chr(given))
        case sre.ANY:
            yield from (each for each in ALPHABET if each != "\n" or flags & DOTALL)
        case sre.RANGE:
            for each in ALPHABET:
                forms = (each, each.lower(), each.upper()) if flags & IGNORECASE else (each,)
                if any(len(one) == 1 and given[0] <= ord(one) <= given[1] for one in forms):
                    yield each
        case sre.IN:
            negated = given[0][0] is sre.NEGATE
            found = {each for item in given[negated:] for each in _chars(*item, flags)}
            yield from (each for each in ALPHABET if (each in found) != negated)
        case sre.CATEGORY:
            yield from (each for each in ALPHABET if _is_in(given, each))
        case _:
            raise NotImplementedError(kind)


def _is_in(category: Any, char: str) -> bool:
    match category:
        case sre.CATEGORY_DIGIT | sre.CATEGORY_NOT_DIGIT:
            found = char.isdigit()
        case sre.CATEGORY_SPACE | sre.CATEGORY_NOT_SPACE:
            found = char.isspace()
        case _:
            found = char.isalnum() or char == "_"
    return found != ("NOT" in str(category))


def is_ambiguous(pattern: str, flags: int = 0, mode: Mode = "fullmatch") -> bool:
    """Whether the pattern can match one text in a number of ways that grows with the text."""
    return Automaton(pattern, flags, mode).is_ambiguous()
