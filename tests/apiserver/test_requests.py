"""What stands in a request's query: selectors, continue tokens, options."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.apiserver.list_options import LATEST, ContinuePosition, ListOptions, parse_continue_token
from simulator.apiserver.query import boolean_parameter, integer_parameter, parse_resource_version
from simulator.apiserver.resources import EVENTS_V1, NODES, PODS, find_built_in
from simulator.apiserver.selection import selection_predicate
from simulator.apiserver.status import BadRequest, Invalid

KEYS = st.from_regex(r"[a-z0-9.-]*[a-z0-9](/[a-z0-9.-]*[a-z0-9])?", fullmatch=True)
NOT_A_NUMBER = "\"x\": for 'Gt', 'Lt' operators, the value must be an integer"
NOT_A_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NOT_A_NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VERSIONS = st.integers(1, (1 << 63) - 1) | st.just(LATEST)


@given(KEYS, VERSIONS)
def test_a_token_has_the_values_of_its_position(after: str, version: int) -> None:
    place = ContinuePosition(after, version)
    assert parse_continue_token(place.token()) == place


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")))
def test_an_invalid_continue_token_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="continue key is not valid"):
        parse_continue_token(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "json: cannot unmarshal array into Go value of type storage.continueToken"),
        ("1", "json: cannot unmarshal number into Go value of type storage.continueToken"),
        ("true", "json: cannot unmarshal bool into Go value of type storage.continueToken"),
        ('"a"', "json: cannot unmarshal string into Go value of type storage.continueToken"),
        ("{} x", "invalid character 'x' after top-level value"),
        ('{"v":', "unexpected end of JSON input"),
        ("\xe9t\xe9", "invalid character '\\xe9' looking for beginning of value"),
        ("\xc3\xa9t\xc3\xa9", "invalid character '\u00e9' looking for beginning of value"),
    ],
)
def test_a_continue_token_is_refused_in_the_words_of_go(text: str, fault: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_continue_token(base64.urlsafe_b64encode(text.encode("latin-1")).decode().rstrip("="))
    assert refused.value.message == f"invalid continue token: continue key is not valid: {fault}"


@given(
    st.dictionaries(st.sampled_from(["watch", "limit", "resourceVersion", "resourceVersionMatch"]), st.text())
)
def test_options_are_taken_or_refused(query: dict[str, str]) -> None:
    try:
        options = ListOptions.of(query)
        parse_resource_version(options.resource_version, "invalid resource version: ")
    except (BadRequest, Invalid):
        return
    assert options.limit >= 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("app in x", "unable to parse requirement: found 'x' expected: '('"),
        ("app in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("app=(x)", "unable to parse requirement: found '(', expected: identifier"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("!!a", "unable to parse requirement: found '!', expected: identifier"),
        ("app near (x)", "unable to parse requirement: found 'near', expected: in, notin, =, ==, !=, gt, lt"),
        ("app>x", f"unable to parse requirement: values[0]: Invalid value: {NOT_A_NUMBER}"),
        ("-a=b", f'unable to parse requirement: <nil>: Invalid value: "-a": {NOT_A_NAME}'),
        ("a in (x y)", "unable to parse requirement: found 'y', expected: ',' or ')'"),
        ("a in (x,=)", "unable to parse requirement: found '=', expected: ',', or identifier"),
        ("a in (x,,)", "unable to parse requirement: found ')', expected: ',', or identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        (
            "a in (-,+)",
            (
                f'unable to parse requirement: [values[0][a]: Invalid value: "+": {NOT_A_VALUE}, '
                f'values[1][a]: Invalid value: "-": {NOT_A_VALUE}]'
            ),
        ),
    ],
)
def test_a_selector_that_cannot_be_read_says_where(labels: str, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        selection_predicate(PODS, labels, "")
    assert refused.value.message == message


@pytest.mark.parametrize(
    ("labels", "selected"),
    [
        ("in", [{"in": "x"}]),
        ("!in", [{}]),
        ("in=x", [{"in": "x"}]),
        ("in in (in,x)", [{"in": "x"}]),
        ("in in ()", []),
        ("in in (,x)", [{"in": "x"}]),
        ("in in (y,,x)", [{"in": "x"}]),
        ("in in (y,)", []),
    ],
)
def test_operators_may_be_keys_and_values(labels: str, selected: list[dict[str, str]]) -> None:
    matches = selection_predicate(PODS, labels, "")
    assert matches
    given_labels: list[dict[str, str]] = [{}, {"in": "x"}]
    assert [found for found in given_labels if matches({"metadata": {"labels": found}})] == selected


def test_an_unsupported_field_selector_is_refused_with_the_message_of_its_kind() -> None:
    jobs, maps = find_built_in("batch", "jobs"), find_built_in("", "configmaps")
    assert jobs
    assert maps
    for resource, fields, message in (
        (PODS, "spec.priority=1", "field label not supported: spec.priority"),
        (NODES, "metadata.namespace=a", "field label not supported: metadata.namespace"),
        (jobs, "status.x=1", 'field label "status.x" not supported for Job'),
        (
            maps,
            "data.a=1",
            '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (PODS, "spec.nodeName>n", "invalid selector: 'spec.nodeName>n'; can't understand 'spec.nodeName>n'"),
        (PODS, " spec.nodeName=n", "field label not supported:  spec.nodeName"),
        (PODS, " ", "invalid selector: ' '; can't understand ' '"),
        (PODS, r"spec.nodeName=a\b", r"invalid field selector: invalid escape sequence: \b"),
        (PODS, "spec.nodeName=a=b", "invalid field selector: unescaped character in value: 61"),
        (EVENTS_V1, "involvedObject.name=a", "field label not supported: involvedObject.name"),
        (EVENTS_V1, "deprecatedSource=a", "field label not supported: deprecatedSource"),
    ):
        with pytest.raises(BadRequest) as refused:
            selection_predicate(resource, "", fields)
        assert refused.value.message == message


def test_a_backslash_escapes_characters_of_a_value() -> None:
    matches = selection_predicate(PODS, "", r"spec.nodeName=a\,b\=c\\,metadata.name==web")
    assert matches
    assert matches({"metadata": {"name": "web"}, "spec": {"nodeName": "a,b=c\\"}})
    assert not matches({"metadata": {"name": "web"}, "spec": {"nodeName": "a"}})


def test_numbers_and_booleans_are_read_as_go_does() -> None:
    assert [integer_parameter({"n": text}, "n") for text in ("-1", "+7", "9223372036854775807")] == [
        -1,
        7,
        2**63 - 1,
    ]
    assert integer_parameter({}, "n") is None
    for text in ("", "1.5", "1_0", "٣", "9223372036854775808", " 1"):
        with pytest.raises(BadRequest):
            integer_parameter({"n": text}, "n")
    said = ("true", "1", "", "maybe", "0", "false", "FALSE")
    assert [boolean_parameter({"b": text}, "b") for text in said] == [True] * 4 + [False] * 3
    assert not boolean_parameter({}, "b")
