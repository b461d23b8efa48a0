"""What the API server refuses is explained in plain words and in the language of the page, whatever it is."""

import re
from random import Random
from typing import Final

import pytest
from django.conf import settings
from django.utils.translation import override

from schedviz.web.forms import FORMS
from schedviz.web.forms.all_faults import find_all_faults
from schedviz.web.reasons.fault_rules import RULES
from schedviz.web.reasons.faults import SHOWN, explain_cause, joined
from schedviz.web.reasons.yaml_faults import explain_text
from simulator.apiserver import names
from simulator.apiserver.admission import admit
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.apiserver.status import (
    Cause,
    StatusError,
    duplicate,
    invalid,
    not_found,
    not_supported,
    required,
)
from simulator.apiserver.types.schema_types import decoded_type
from tests.ambiguous_patterns import is_ambiguous
from tests.apiserver.cluster import NOW, Cluster
from tests.programs.fuzz import values
from tests.programs.fuzz.objects import kinds

FORM_KINDS: Final = {kind for form in FORMS.values() for kind in form.kinds}
CHANGED: Final = 700
"""How many changed manifests are refused: enough for each kind of fault in RULES that one object can have."""


def refused() -> list[Cause]:
    """The causes for which the API server refuses objects of the forms' kinds, of which some values were
    changed."""
    rng = Random(5)
    objects = [(resource, manifest) for resource, manifest in kinds() if resource.kind in FORM_KINDS]
    found: dict[Cause, None] = {}
    for number in range(CHANGED):
        resource, manifest = objects[number % len(objects)]
        changed = values.changed(rng, manifest, decoded_type(resource))
        try:
            admit([changed], Cluster(), NOW, source="test", entry="page")
        except StatusError as error:
            found |= dict.fromkeys(error.causes or (Cause("", error.message, error.reason),))
    return [*found]


def test_each_refusal_is_explained_in_each_language() -> None:
    causes = refused()
    english = [explain_cause(cause) for cause in causes]
    for cause, explanation in zip(causes, english, strict=True):
        assert explanation.upstream == str(cause)
        without_values = re.sub("“[^”]*”", "", explanation.text)
        assert "regex" not in explanation.text
        assert "RFC" not in without_values
        assert "%(" not in without_values
    share = sum(explanation.is_general for explanation in english) / len(english)
    assert share < 0.15, "too many faults have only a general explanation"
    for language, _ in settings.LANGUAGES:
        if language == "en":
            continue
        with override(language):
            assert all(
                explain_cause(cause).text != explanation.text
                for cause, explanation in zip(causes, english, strict=True)
            ), language


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (
            invalid("metadata.name", "Web_1", names.dns_subdomain("Web_1")[0]),
            (
                "“Web_1” cannot be a name here: a name has only small letters (a-z), digits, “-” and “.”, "
                "and a letter or digit first and last. “web-1” would be valid."
            ),
        ),
        (required("spec.containers[0].image"), "A value is needed here."),
        (
            not_supported("spec.restartPolicy", "always", ("Always", "OnFailure", "Never"), as_given=True),
            "“always” is not one of the allowed values: Always, OnFailure, Never. Did you mean “Always”?",
        ),
        (duplicate("spec.containers[1].name", "a: b"), "“a: b” is there twice. Each must be different."),
        (not_found("spec.volumeMounts[0].name", "data"), "“data” is named here, and does not exist."),
        (
            invalid("spec.replicas", -1, "must be greater than or equal to 0"),
            "“-1” is too small: it must be 0 or more.",
        ),
        (
            invalid("spec", {"a": "}: b"}, "field is immutable", whole=True),
            "This cannot be changed after the object was created. Delete the object and create it again.",
        ),
        (invalid("metadata.name", "a" * 300, "something new"), f"“{'a' * SHOWN}…” is not allowed here."),
    ],
)
def test_a_kind_of_fault_has_its_sentence(cause: Cause, text: str) -> None:
    assert explain_cause(cause).text == text


def test_each_pattern_of_a_rule_takes_linear_time() -> None:
    assert [rule.pattern for rule in RULES if is_ambiguous(rule.pattern, re.DOTALL, "fullmatch")] == []


def test_what_is_suggested_as_a_name_is_valid() -> None:
    checks = [
        names.dns_label,
        names.dns_subdomain,
        names.service_name,
        names.label_value,
        names.config_key,
    ]
    rng = Random(1)
    texts = ["Web_1", "-a-", "1a", "a" * 64 + "_", *(values.text(rng) for _ in range(60))]
    for check in checks:
        for text in texts:
            for problem in check(text):
                matching = [rule for rule in RULES if re.fullmatch(rule.pattern, problem, re.DOTALL)]
                suggested = [rule.suggest(text) for rule in matching if rule.suggest]
                assert all(check(each) == [] for each in suggested if each), (check, text, suggested)


def test_faults_of_all_steps_of_the_api_server_are_found_at_once() -> None:
    """Types, admission plugins and values: upstream answers with the first of the three that fails."""
    (manifest,) = parse_manifests(
        """
apiVersion: v1
kind: Pod
metadata: {name: Web_1}
spec:
  containers: [{name: main, image: web, resources: {requests: {cpu: abc}}}]
  priorityClassName: missing
  restartPolicy: always
  colour: red
"""
    )
    found = find_all_faults([manifest], lambda left: admit(left, Cluster(), NOW, source="test", entry="page"))
    assert [fault.cause.field for fault in found] == [
        "spec.colour",
        "spec.containers[0].resources.requests[cpu]",
        "spec.priorityClassName",
        "metadata.name",
        "spec.restartPolicy",
    ]


def test_one_explanation_of_several_fields_is_said_once() -> None:
    causes = [required("spec.a"), required("spec.b"), required("spec.b")]
    (explanation,) = joined(map(explain_cause, causes))
    assert explanation.upstream == "spec.a: Required value\nspec.b: Required value"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: b: c", "Line 1, column 5: A “:” is not possible here."),
        ("a:\n\tb: c", "Line 2, column 1: A value cannot begin with this character."),
        ("a: [1, 2", "Line 2, column 1: A “,” or a closing “]” is missing"),
        ("a: 'b", "Line 1, column 6: A quotation mark is opened"),
        ("a:\n  b: 1\n c: 2", "Line 3, column 2: The line does not fit"),
        ("a:\n- 1\n -2: 3\n-", "Line 3, column "),
        ("a: *", "Line 1, column 5: Write a text that begins with * or &"),
        ("a: 1\na: 2", "Line 2: The field “a” is there twice."),
        ("a: 1", "Object 1 has no apiVersion"),
        ("- a", "This is not an object"),
        ("a: \x07", "Line 1: The line has a character that cannot be seen."),
        ("[" * 70, "Line 1: It is nested deeper than 64 levels."),
    ],
)
def test_a_text_that_is_no_yaml_is_explained_with_its_line(text: str, start: str) -> None:
    with pytest.raises(ManifestError) as error:
        parse_manifests(text)
    explanation = explain_text(error.value)
    assert explanation.text.startswith(start), explanation
    assert explanation.upstream == str(error.value)
