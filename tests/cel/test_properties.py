"""What holds for all devices, versions and quantities."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from simulator.cel.device_selector import compile_selector
from simulator.cel.device_value import DeviceValue
from simulator.cel.semvers import compare_versions, parse_version
from tests.cel.devices import evaluate

_ATTRIBUTE = st.one_of(
    st.builds(lambda value: {"int": value}, st.integers(-(1 << 63), (1 << 63) - 1)),
    st.builds(lambda value: {"bool": value}, st.booleans()),
    st.builds(lambda value: {"string": value}, st.text(max_size=8)),
    st.builds(lambda value: {"version": value}, st.sampled_from(["1.2.3", "1.2.3-a.1", "1"])),
)
_OPERATIONS = [
    "a + b",
    "a < b",
    "a == b",
    "a - b",
    "a % b",
    "a in [b]",
    "a[b]",
    "a.x",
    "a.isLessThan(b)",
    "!a",
]
_IDENTIFIER = st.one_of(st.integers(0, 30), st.sampled_from(["a", "b-1", "rc", "-", "alpha"]))


@given(_ATTRIBUTE, _ATTRIBUTE, st.sampled_from(_OPERATIONS))
def test_only_selector_errors_are_raised(one: dict[str, object], other: dict[str, object], text: str) -> None:
    device = DeviceValue.of("d", {"attributes": {"a": one, "b": other}})
    bound = f'cel.bind(a, device.attributes["d"].a, cel.bind(b, device.attributes["d"].b, ({text}) == 1))'
    assert isinstance(evaluate(bound, device), bool | str)


@given(st.lists(_IDENTIFIER, max_size=4), st.lists(_IDENTIFIER, max_size=4))
def test_versions_have_the_precedence_of_semantic_versioning(
    one: list[int | str], other: list[int | str]
) -> None:
    found = compare_versions(*(_parse(each) for each in (one, other)))
    assert found == _compare(one, other)


def _parse(parts: list[int | str]):  # type: ignore[no-untyped-def]
    return parse_version("1.2.3" + ("-" + ".".join(map(str, parts)) if parts else ""))


def _compare(one: list[int | str], other: list[int | str]) -> int:
    """Rule 11 of Semantic Versioning 2.0.0."""
    if not one or not other:
        return int(not one) - int(not other)
    for left, right in zip(one, other, strict=False):
        if left == right:
            continue
        if isinstance(left, int) and isinstance(right, int):
            return 1 if left > right else -1
        if isinstance(left, int) or isinstance(right, int):
            return -1 if isinstance(left, int) else 1
        return 1 if left > right else -1
    return (len(one) > len(other)) - (len(one) < len(other))


_NUMBER = st.tuples(st.integers(-9_999, 9_999), st.sampled_from(["m", "", "k", "Ki", "Mi", "G"]))
_SCALES = {"m": Fraction(1, 1000), "": 1, "k": 1000, "Ki": 1024, "Mi": 1 << 20, "G": 10**9}


@given(_NUMBER, _NUMBER)
def test_quantities_compare_as_exact_numbers(one: tuple[int, str], other: tuple[int, str]) -> None:
    left, right = (number * _SCALES[suffix] for number, suffix in (one, other))
    expected = (left > right) - (left < right)
    texts = [f'quantity("{number}{suffix}")' for number, suffix in (one, other)]
    assert compile_selector(f"{texts[0]}.compareTo({texts[1]}) == {expected}").matches(
        DeviceValue.of("d", {})
    )
