# ruff: noqa: E501
"""Selectors of devices: what they find, and their errors, as kube-scheduler's."""

import pytest

from simulator.cel.device_selector import compile_selector
from simulator.cel.device_value import DeviceValue
from tests.cel.devices import complete, evaluate

TRUE = r"""
A.model == "a100" && device.driver == "gpu.example.com"
A.numa + 1 == 2 && A.healthy
device.attributes["other.io"].model == "x"
has(device.attributes.nosuch) && !("nosuch" in device.attributes) && size(device.attributes) == 2
has(device.driver) && !has(A.nosuch) && !device.allowMultipleAllocations
A.missing == 1 || true
!(false && A.missing == 1)
A.version != "1.10.3" && !("1.10.3" == A.version) && !(A.version in ["1.10.3"])
dyn(1) == 1.0 && 1 < 1.5 && 2u > 1 && !(dyn(1) == "1")
cel.bind(d, device, d.driver == "gpu.example.com" && d.attributes["gpu.example.com"].numa == 1)
[device].exists(d, d.driver.endsWith("com"))
A.?model.orValue("x") == "a100" && A.?nosuch.orValue(1) == 1 && !device.attributes["x"].?y.z.hasValue()
[?optional.of(1), ?optional.none()] == [1] && {?"a": optional.of(1)}.a == 1
optional.unwrap([optional.of(1), optional.none()]) == [1] && [1, 2].last().value() == 2
optional.ofNonZeroValue("") == optional.none() && optional.of(1).optMap(x, x + 1).value() == 2
[1, 2].transformList(i, v, i + v) == [1, 3] && {"a": 1}.transformMapEntry(k, v, {v: k}) == {1: "a"}
device.attributes.all(k, v, v.size() > 0) && [1, 2].existsOne(i, v, v == 1)
[1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [3, 4].filter(x, x > 3) == [4]
"a,b,c".split(",", 2) == ["a", "b,c"] && ["a", "b"].join("-") == "a-b" && "abc".indexOf("c") == 2
"aXbX".replace("X", "y", 1) == "aybX" && "Ab".lowerAscii() == "ab" && "a".upperAscii() == "A"
"abcab".lastIndexOf("ab") == 3 && "abc".substring(1) == "bc" && "abc".charAt(3) == "" && " a\t".trim() == "a"
strings.quote("a\"b") == "\"a\\\"b\""
"%d %s %.2f %x %b %o".format([1, ["a", 1.5], 1.5, 255, 5, 8]) == "1 [\"a\", 1.500000] 1.50 ff 101 10"
[1, 2].sum() == 3 && [1.5, 0.5].max() == 1.5 && ["b", "a"].min() == "a" && ![3, 1].isSorted()
[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [duration("1s")].sum() == duration("1s")
sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])
A.model.find("([a-z])[0-9]") == "a1" && "a1b2".findAll("[a-z][0-9]") == ["a1", "b2"] && "a".find("x") == ""
A.model.matches("^a[0-9]+$") && matches("abc", "b")
C.memory.compareTo(quantity("40Gi")) == 0 && !C.slice.isInteger() && C.slice.asApproximateFloat() == 1.5
quantity("1").add(quantity("1")).sub(1) == quantity("1") && sign(quantity("-1")) == -1 && isQuantity("1e3")
quantity("2k").asInteger() == 2000 && quantity("1").isLessThan(quantity("1001m")) && !isQuantity("200K")
A.version.isLessThan(semver("2.0.0")) && A.version.major() == 1 && A.version.compareTo(semver("1.9.0")) == 1
semver("v01.02", true) == semver("1.2.0") && isSemver("1.0", true) && !isSemver("1.0")
semver("1.0.0-alpha.1").isGreaterThan(semver("1.0.0-alpha")) && semver("1.0.0+a") == semver("1.0.0+b")
url("https://h:80/a b?x=1&x=2").getEscapedPath() == "/a%20b" && isURL("/a") && !isURL("a")
url("https://h:80/p?x=1&x=2#f").getQuery() == {"x": ["1", "2"]} && url("https://[::1]:80/").getHostname() == "::1"
url("https://h:80/").getPort() == "80" && url("https://h").getScheme() == "https" && url("/a").getHost() == ""
ip("10.0.0.1").family() == 4 && ip.isCanonical("::1") && !isIP("1.2.3") && string(ip("::1")) == "::1"
ip("::1").isLoopback() && ip("1.2.3.4").isGlobalUnicast() && ip("0.0.0.0").isUnspecified()
ip("ff02::1").isLinkLocalMulticast() && ip("169.254.0.1").isLinkLocalUnicast() && type(ip("::1")) == net.IP
cidr("10.0.0.0/8").containsIP("10.1.2.3") && cidr("10.1.0.0/8").masked() == cidr("10.0.0.0/8")
cidr("10.0.0.0/8").containsCIDR("10.0.0.0/9") && cidr("::/0").prefixLength() == 0 && isCIDR("1.2.3.4/32")
format.dns1123Label().validate("a") == optional.none() && format.named("uuid").hasValue()
format.qualifiedName().validate("a/b/c").hasValue() && !format.dns1123LabelPrefix().validate("a-").hasValue()
duration("90m").getHours() == 1 && timestamp("2023-01-02T03:04:05Z").getHours("+02:00") == 5
string(duration("1500ms")) == "1.5s" && string(timestamp("2023-01-02T03:04:05.5Z")) == "2023-01-02T03:04:05.5Z"
string(1.5) == "1.5" && string(1000000.0) == "1e+06" && string(0.00001) == "1e-05" && string(100.0) == "100"
int("-5") == -5 && uint(5) == 5u && double("1e3") == 1000.0 && bytes("a") == b"a" && bool("t")
type(A.numa) == int && type(null) == null_type && {1: "a"}[dyn(1u)] == "a" && {true: 1}.size() == 1
"\u00e4\u00f6".size() == 2 && b"\xff".size() == 1
"""

ERRORS = r"""
A.missing == 1 && true => no such key: missing
[1][A.numa] == 1 => index out of bounds: 1
A.numa.x == 1 => no such key: x
A.numa < "2" => no such overload
A.healthy + 1 == 2 => no such overload: _+_
A.numa.contains("a") => no such overload
A.numa.matches("a") => no such overload: matches
size(A.numa) == 1 => no such overload: size
A.numa.charAt(1) == "a" => no such overload: charAt(int, int)
A.numa.isGreaterThan(quantity("1")) => no such overload: isGreaterThan(int, kubernetes.Quantity)
A.version == "1.10.3" => no such overload
quantity("1") == quantity("0").add(1) => no such overload
A.numa ? true : false => no such overload
dyn(5).all(x, true) => got 'types.Int', expected iterable type
A.numa / 0 == 1 => division by zero
9223372036854775807 + A.numa > 0 => integer overflow
0u - 1u == 0u => unsigned integer overflow
int(A.model) == 1 => type conversion error from 'string' to 'int'
bool(A.numa) => type conversion error from 'int' to 'bool'
string(A.version) == "" => no such overload: string(kubernetes.Semver)
A.model => CEL result of type string could not be converted to bool: unsupported native conversion from string to 'bool'
A.numa => CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to bool
A.version => CEL result of type kubernetes.Semver could not be converted to bool: type conversion error from 'Semver' to 'bool'
"abc".substring(2, 1) == "" => invalid substring range. start: 2, end: 1
"abc".charAt(4) == "" => index out of range: 4
[].min() == 1 => min called on empty list
optional.none().value() == 1 => optional.none() dereference
quantity("1.5").asInteger() == 1 => cannot convert value to integer
quantity("1x") == quantity("1") => quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
quantity("1K") == quantity("1") => unable to parse quantity's suffix
quantity("k") == quantity("1") => unable to parse numeric part of quantity
semver("") == A.version => Version string empty
semver("1.2") == A.version => No Major.Minor.Patch elements found
semver("01.2.3") == A.version => Major number must not contain leading zeroes "01"
semver("1.x.3") == A.version => Invalid character(s) found in minor number "x"
semver("1.2.3-01") == A.version => Numeric PreRelease version must not contain leading zeroes "01"
semver("1.2.3-a..b") == A.version => Prerelease is empty
semver("1.2.3+a_b") == A.version => Invalid character(s) found in build meta data "a_b"
semver("1.2-a", true) == A.version => short version cannot contain PreRelease/Build meta data
url("abc").getHost() == "" => URL parse error during conversion from string: parse "abc": invalid URI for request
ip("10.0.0.256").family() == 4 => IP Address "10.0.0.256" parse error during conversion from string: ParseAddr("10.0.0.256"): IPv4 field has value >255
ip("::ffff:1.2.3.4").family() == 4 => IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed
cidr("1.2.3.4/33").prefixLength() == 8 => network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("1.2.3.4/33"): prefix length out of range
"a".matches(device.driver + "(") => error parsing regexp: missing closing ): `gpu.example.com(`
"a".find("(") == "" => program instantiation failed: error parsing regexp: missing closing ): `(`
device.driver => must evaluate to bool or the unknown type, not string
device.attributes => must evaluate to bool or the unknown type, not map(string, map(string, google.protobuf.Any))
dyn(true) => must evaluate to bool or the unknown type, not dyn
duration("1s") => must evaluate to bool or the unknown type, not google.protobuf.Duration
"""

ISSUES = [
    ("quantity(1) == 1", 9, "found no matching overload for 'quantity' applied to '(int)'"),
    ("[1].indexOf('a') == 1", 12, "found no matching overload for 'indexOf' applied to 'list(int).(string)'"),
    ("quantity('1').sign() == 1", 19, "found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"),
    ("1 == 1.0", 3, "found no matching overload for '_==_' applied to '(int, double)'"),
    ("null < 1", 6, "found no matching overload for '_<_' applied to '(null, int)'"),
    ("object.metadata.name == 'x'", 1, "undeclared reference to 'object' (in container '')"),
    ("'abc'.reverse() == 'cba'", 14, "found no matching overload for 'reverse' applied to 'string.()'"),
    ("'abc'.foo() == 'cba'", 10, "undeclared reference to 'foo' (in container '')"),
    ("[1].sort(1) == [1]", 9, "found no matching overload for 'sort' applied to 'list(int).(int)'"),
    ("[1].all(1, true)", 9, "argument must be a simple name"),
    ("[1].map(1, 2) == [2]", 9, "argument is not an identifier"),
    ("[1].all(i, i, true)", 12, "duplicate variable name: i"),
    ("[1].filter(__result__, true) == [1]", 12, "iteration variable overwrites accumulator variable"),
    ("has(device)", 5, "invalid argument to has() macro"),
    ("cel.bind(a.b, 1, true)", 11, "cel.bind() variable names must be simple identifiers"),
    ("'a'.sortBy(e, e) == []", 1,
     "sortBy can only be applied to a list, identifier, comprehension, call or select expression"),
    ("device.nosuch == 1", 7, "undefined field 'nosuch'"),
    ("device.driver.x == 1", 14, "type 'string' does not support field selection"),
    ("quantity('1').x == 1", 14, "unexpected failed resolution of 'kubernetes.Quantity'"),
    ("[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'"),
    ("5.all(x, true)", 1, "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"),
    ("duration('x') == duration('1s')", 10, "invalid duration argument"),
    ("'a'.matches('(')", 13, "invalid matches argument"),
    ("'%d'.format(['a']) == ''", 14, "error during formatting: decimal clause can only be used on integers, was given string"),
    ("'%d'.format([]) == ''", 12, "index 0 out of range"),
]  # fmt: skip


@pytest.mark.parametrize("line", TRUE.strip().splitlines())
def test_a_selector_matches(line: str) -> None:
    assert evaluate(complete(line)) is True


@pytest.mark.parametrize("line", ERRORS.strip().splitlines())
def test_a_selector_fails(line: str) -> None:
    expression, _, text = line.partition(" => ")
    assert evaluate(complete(expression)) == text


@pytest.mark.parametrize(("expression", "column", "text"), ISSUES)
def test_a_selector_does_not_compile(expression: str, column: int, text: str) -> None:
    assert compile_selector(expression).error == (
        f"compilation failed: ERROR: <input>:1:{column}: {text}\n | {expression}\n | {'.' * (column - 1)}^"
    )


def test_issues_have_the_order_of_the_source() -> None:
    error = compile_selector("b(a) ||\nc").error
    assert error.index("1:2: undeclared reference to 'b'") < error.index("1:3: undeclared reference to 'a'")
    assert error.endswith("<input>:2:1: undeclared reference to 'c' (in container '')\n | c\n | ^")


def test_devices_of_equal_content_are_equal() -> None:
    one = DeviceValue.of("a", {"name": "x", "attributes": {"n": {"int": 1}}})
    other = DeviceValue.of("a", {"name": "y", "attributes": {"n": {"int": 1}}})
    assert one == other
    assert hash(one) == hash(other)
    assert one != DeviceValue.of("a", {"name": "x", "attributes": {"n": {"bool": True}}})
    assert one != DeviceValue.of("b", {"name": "x", "attributes": {"n": {"int": 1}}})
    assert one != DeviceValue.of(
        "a", {"name": "x", "attributes": one_int(), "allowMultipleAllocations": True}
    )


def one_int() -> dict[str, dict[str, int]]:
    return {"n": {"int": 1}}


def test_an_invalid_version_is_an_error_of_each_selector() -> None:
    device = DeviceValue.of("a", {"attributes": {"v": {"version": "1"}}})
    text = "attribute v: parse semantic version: No Major.Minor.Patch elements found"
    assert evaluate("true", device) == text


_TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"


@pytest.mark.parametrize(
    "expression",
    [
        "".join(f"{_TEN}.map(a{each}, " for each in range(5)) + "1" + ")" * 5 + " == []",
        "cel.bind(a, [1], " + "".join("cel.bind(a, a + a, " for _ in range(25)) + "a.size() == 1" + ")" * 26,
    ],
)
def test_an_evaluation_is_bounded(expression: str) -> None:
    assert evaluate(expression) == "operation cancelled: actual cost limit exceeded"
