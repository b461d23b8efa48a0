"""The table of the rules of the API server: what a refused value must be, in plain words.

A rule is recognised by the text that upstream writes for it (apimachinery/pkg/util/validation/validation.go
and the validation of the kinds), never by the object that breaks it. ``%(value)s`` in a sentence is the
refused value; the other words are the groups of the pattern. A digit at the end of a group's name does not
count: in a pattern, a name can be used once.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from django.utils.translation import gettext_noop

from schedviz.web.reasons.configuration_rules import CONFIGURATION
from schedviz.web.reasons.valid_names import (
    valid_label,
    valid_qualified_name,
    valid_service_name,
    valid_subdomain,
)


class Rule(NamedTuple):
    """``suggest`` makes a valid value of a refused one; "" if nothing of it is left."""

    pattern: str
    sentence: str
    suggest: Callable[[str], str] | None = None


CHANGED_LATER: Final = gettext_noop(
    "This cannot be changed after the object was created. Delete the object and create it again."
)
_ONE_OF: Final = gettext_noop("Exactly one of these must be set: %(fields)s.")
_NOT_BOTH: Final = gettext_noop("These cannot be set together: %(fields)s.")
_NUMBER_OF_MORE: Final = gettext_noop("“%(value)s” is too small: it must be %(least)s or more.")
_NUMBER_OF_LESS: Final = gettext_noop("“%(value)s” is too large: it must be %(most)s or less.")
_NUMBER_BETWEEN: Final = gettext_noop("“%(value)s” must be a number from %(least)s to %(most)s.")
_PORT: Final = gettext_noop(
    "“%(value)s” cannot be the name of a port: it has at most 15 small letters (a-z), digits and single “-”, "
    "at least one letter, and a letter or digit first and last."
)
_SELECTOR: Final = gettext_noop(
    "A selector is needed here: without one, the object would have no pods of its own."
)

_NAMED: Final[tuple[tuple[str, str, Callable[[str], str] | None], ...]] = (
    (
        (
            r"a lowercase RFC 1123 label must consist of .*|will not able to create pod with invalid DNS "
            r"label: .*"
        ),
        gettext_noop(
            "“%(value)s” cannot be a name here: a name has only small letters (a-z), digits and “-”, and a "
            "letter or digit first and last."
        ),
        valid_label,
    ),
    (
        r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' .*",
        gettext_noop(
            "“%(value)s” cannot be a name here: a name has only small letters (a-z), digits, “-” and “.”, "
            "and a letter or digit first and last."
        ),
        valid_subdomain,
    ),
    (
        r"a DNS-1035 label must consist of .*",
        gettext_noop(
            "“%(value)s” cannot be a name here: a name has only small letters (a-z), digits and “-”, a "
            "letter first, and a letter or digit last."
        ),
        valid_service_name,
    ),
    (
        r"a valid label must be an empty string or consist of .*",
        gettext_noop(
            "“%(value)s” cannot be the value of a label: it has only letters (A-Z, a-z), digits, “-”, “_” "
            "and “.”, and a letter or digit first and last."
        ),
        valid_qualified_name,
    ),
    (
        r"(?:a qualified name |name part )?must consist of alphanumeric characters, '-', '_' or '\.', .*",
        gettext_noop(
            "“%(value)s” cannot be a key: it has only letters (A-Z, a-z), digits, “-”, “_” and “.”, and a "
            "letter or digit first and last. A domain and one “/” may stand before it: example.com/name."
        ),
        None,
    ),
    (
        r"prefix part .*",
        gettext_noop(
            "“%(value)s” cannot be a key: before the “/” stands a domain of small letters (a-z), digits, “-” "
            "and “.”, as in example.com/name."
        ),
        None,
    ),
    (r"name part must be non-empty", gettext_noop("“%(value)s” cannot be a key: it has no name."), None),
    (
        r"a valid config key must consist of .*",
        gettext_noop(
            "“%(value)s” cannot be a key: it has only letters (A-Z, a-z), digits, “-”, “_” and “.”."
        ),
        valid_qualified_name,
    ),
    (
        r"a valid C identifier must .*",
        gettext_noop(
            "“%(value)s” cannot be a name here: it has only letters (A-Z, a-z), digits and “_”, and no digit "
            "first."
        ),
        None,
    ),
    (r"must not contain dots", gettext_noop("“%(value)s” cannot be a name here: it has a “.”."), valid_label),
    (
        r"(?:(?:may|must) not contain|resource group name can't contain) '(?P<what>.+)'",
        gettext_noop("“%(value)s” is not allowed here: it must not contain “%(what)s”."),
        None,
    ),
    (
        (
            r"must contain only alpha-numeric characters \(a-z, 0-9\), and hyphens \(-\)|must contain at "
            r"least one letter \(a-z\)|must not contain consecutive hyphens|must not begin or end with a "
            r"hyphen"
        ),
        _PORT,
        None,
    ),
)

_SENTENCES: Final[tuple[tuple[str, str], ...]] = (
    (
        (
            r"(?:name part |prefix part )?must be no more than (?P<most>\d+) (?:characters|bytes)|may not be "
            r"more than (?P<most2>\d+) bytes|can have at most (?P<most3>\d+) characters"
        ),
        gettext_noop("The text is too long: at most %(most)s characters are allowed."),
    ),
    (
        r".*must have at most (?P<most>\d+) items|at most (?P<most2>\d+) (?:profiles|extenders)",
        gettext_noop("There are too many: at most %(most)s are allowed."),
    ),
    # Quantities and numbers.
    (
        r"quantities must match the regular expression .*; did you mean (?P<meant>[^;]+)\?",
        gettext_noop("“%(value)s” is not an amount. Did you mean %(meant)s?"),
    ),
    (
        (
            r"quantities must match the regular expression .*|unable to parse quantity's suffix.*|must be of "
            r"type quantity|must be a valid resource quantity"
        ),
        gettext_noop(
            "“%(value)s” is not an amount. Write a number, with a unit if it needs one: 2 or 500m for CPUs, "
            "512Mi or 4Gi for memory."
        ),
    ),
    (
        (
            r"must be greater than or equal to (?P<least>-?[\w.]+).*|should be at least (?P<least2>\d+)|"
            r"not in valid range \[(?P<least3>\d+), inf\)"
        ),
        _NUMBER_OF_MORE,
    ),
    (
        (
            r"must be greater than (?:zero|0).*|should be an integer value greater than zero|"
            r"not in valid range \(0, inf\)"
        ),
        gettext_noop("“%(value)s” is too small: it must be 1 or more."),
    ),
    (
        r"must be less than or equal to (?P<resource>\S+) limit of (?P<limit>\S+)",
        gettext_noop(
            "The request of %(value)s is larger than the limit of %(limit)s (%(resource)s). A container "
            "cannot request more than its limit."
        ),
    ),
    (
        r"must be equal to (?P<resource>\S+) limit of (?P<limit>\S+)",
        gettext_noop("The request of %(resource)s must be equal to its limit, %(limit)s."),
    ),
    (
        (
            r"must be less than or equal to (?P<most>-?[\d.]\S*)(?: .*)?|maximum allowed value of a user "
            r"defined priority is (?P<most2>\d+)"
        ),
        _NUMBER_OF_LESS,
    ),
    (
        (
            r"must be between (?P<least>-?\d+) and (?P<most>-?\d+), inclusive|must be in the range "
            r"(?P<least2>-?\d+)-(?P<most2>-?\d+)|(?:resource weight of \S+ )?not in valid range "
            r"\[(?P<least3>\d+)(?:-|, )(?P<most3>\d+)\]|must be a number from (?P<least4>\d+) to "
            r"(?P<most4>\d+)"
        ),
        _NUMBER_BETWEEN,
    ),
    (
        r"must be in the range of \w+|must be less than 2\^63",
        gettext_noop("“%(value)s” is too large a number for this field."),
    ),
    (r"must be an integer", gettext_noop("“%(value)s” must be a whole number, without a fraction.")),
    (
        r"a valid percent string must .*|must not be greater than 100%",
        gettext_noop("“%(value)s” must be a whole number, or a percentage of at most 100%%, such as 25%%."),
    ),
    (
        r"must be (?P<what>-?\d+)|resource weight of \S+ should be (?P<what2>\d+)|expected (?P<what3>\S+)",
        gettext_noop("“%(value)s” is not allowed here: it must be %(what)s."),
    ),
    # Types and fields.
    (
        r"must be of type object",
        gettext_noop("Fields (name: value) are needed here, not a single value or a list."),
    ),
    (
        r"must be of type array",
        gettext_noop("A list is needed here: write each item on a line that begins with “- ”."),
    ),
    (r"must be of type string.*", gettext_noop("“%(value)s” must be a text: write it in quotation marks.")),
    (
        r"must be of type integer",
        gettext_noop("“%(value)s” must be a whole number, without quotation marks."),
    ),
    (r"must be of type number", gettext_noop("“%(value)s” must be a number, without quotation marks.")),
    (r"must be of type boolean", gettext_noop("“%(value)s” must be true or false, without quotation marks.")),
    (r"must be of type .*", gettext_noop("The value has the wrong type for this field.")),
    (
        r'unknown field ".*"; did you mean "(?P<meant>[^"]*)"\?',
        gettext_noop("There is no field “%(name)s” here. Did you mean “%(meant)s”?"),
    ),
    (
        r'unknown field ".*"',
        gettext_noop(
            "There is no field “%(name)s” here. Check its spelling, and that it is indented as its "
            "neighbours."
        ),
    ),
    (
        r"must be a time as RFC 3339 has it.*",
        gettext_noop("“%(value)s” is not a time. Write it as 2027-01-15T08:00:00Z."),
    ),
    (r"must be a valid IP address.*", gettext_noop("“%(value)s” is not an IP address, such as 10.9.8.7.")),
    (
        r"must be a valid CIDR value.*",
        gettext_noop("“%(value)s” is not a range of IP addresses, such as 10.9.8.0/24."),
    ),
    (
        r"must be a standard resource .*",
        gettext_noop(
            "“%(value)s” is not a resource: Kubernetes' own are cpu, memory and ephemeral-storage. The "
            "others have a domain, as example.com/gpu."
        ),
    ),
    (
        r"must include a domain|name is neither a standard finalizer name nor is it fully qualified",
        gettext_noop("“%(value)s” needs a domain and a “/” before it: example.com/name."),
    ),
    (
        r"compilation failed: .*|must evaluate to bool.*",
        gettext_noop("The expression is not valid CEL, or its result is not true or false."),
    ),
    # One field depends on another.
    (
        r"`selector` does not match template `labels`",
        gettext_noop(
            "The template needs the labels that the selector asks for; otherwise the object does not find "
            "its own pods."
        ),
    ),
    (r"empty selector is invalid for .*", _SELECTOR),
    (r"invalid label selector", gettext_noop("The selector is not valid.")),
    (
        r"not a valid selector operator",
        gettext_noop("“%(value)s” is not an operator. The operators are In, NotIn, Exists and DoesNotExist."),
    ),
    (
        r"must be specified when `operator` is 'In' or 'NotIn'",
        gettext_noop("The operators In and NotIn need at least one value."),
    ),
    (
        r"operator must be Exists when `key` is empty.*",
        gettext_noop("A toleration without a key tolerates all taints, and needs the operator Exists."),
    ),
    (
        r"effect must be 'NoExecute' when `tolerationSeconds` is set",
        gettext_noop("tolerationSeconds is only for the effect NoExecute."),
    ),
    (
        r"taints must be unique by key and effect pair",
        gettext_noop("A node has only one taint with the same key and effect."),
    ),
    (
        (
            r"(?P<fields>\w+ and \w+) (?:cannot be both set|are mutually exclusive)|at most one of "
            r"(?P<fields2>.+) may be specified"
        ),
        _NOT_BOTH,
    ),
    (
        (
            r"exactly one of (?P<fields>[^,]+) is required(?:, .*)?|must specify (?:exactly )?one of: "
            r"(?P<fields2>.+)"
        ),
        _ONE_OF,
    ),
    (
        r"may not have more than one field specified at a time|may not specify more than 1 .*",
        gettext_noop("Only one of the fields here may be set."),
    ),
    (r"not allowed on this type", gettext_noop("Objects of this kind are in no namespace.")),
    # What is named does not exist.
    (
        r"no PriorityClass with name (?P<name>.+) was found",
        gettext_noop("There is no PriorityClass “%(name)s”. Create it first, or leave the field empty."),
    ),
    (
        (
            r"must be one of the names in pod\.spec\.resourceClaims.*|must match the name of an entry in "
            r"`spec\.resourceClaims`"
        ),
        gettext_noop("The container uses a claim that the pod does not list in resourceClaims."),
    ),
    (
        r"priority class names with 'system-' prefix are reserved.*",
        gettext_noop(
            "Names that begin with system- are reserved for the PriorityClasses of Kubernetes itself."
        ),
    ),
    # Changes and quotas.
    (
        (
            r"(?:[^:]*: )?exceeded quota: (?P<name>[^,:]+), requested: (?P<requested>[^:]+), used: "
            r"(?P<used>[^:]+), limited: (?P<hard>[^:]+)"
        ),
        gettext_noop(
            "The ResourceQuota “%(name)s” does not allow it: requested %(requested)s, used %(used)s, at most "
            "%(hard)s."
        ),
    ),
    # The whole object.
    (
        r'namespaces "(?P<name>.+)" not found',
        gettext_noop("There is no namespace “%(name)s”. Create it first, or use default."),
    ),
    (
        r'(?P<what>\S+) "(?P<name>.+)" already exists',
        gettext_noop("There is already an object “%(name)s” of this kind. Choose another name."),
    ),
    (
        r'(?P<what>\S+) "(?P<name>.+)" not found',
        gettext_noop("There is no object “%(name)s” of this kind any more."),
    ),
    (
        (
            r'no matches for kind "(?P<kind>[^"]*)" in version "(?P<version>[^"]*)"; '
            r"did you mean (?P<meant>\S+) of (?P<group>\S+)\?"
        ),
        gettext_noop(
            "There is no kind “%(kind)s” in “%(version)s”. Did you mean kind: %(meant)s with apiVersion: "
            "%(group)s?"
        ),
    ),
    (
        r'no matches for kind "(?P<kind>[^"]*)" in version "(?P<version>[^"]*)"',
        gettext_noop("There is no kind “%(kind)s” in “%(version)s”. Check both for their spelling."),
    ),
    (
        r"the manifest must have an apiVersion and a kind",
        gettext_noop("apiVersion and kind are missing: they say what the object is."),
    ),
)

GENERAL: Final = {
    "FieldValueRequired": gettext_noop("A value is needed here."),
    "FieldValueNotSupported": gettext_noop("“%(value)s” is not one of the allowed values: %(choices)s."),
    "FieldValueDuplicate": gettext_noop("“%(value)s” is there twice. Each must be different."),
    "FieldValueNotFound": gettext_noop("“%(value)s” is named here, and does not exist."),
    "FieldValueForbidden": gettext_noop("This must not be set here."),
    "FieldValueTooLong": gettext_noop("The text is too long."),
    "FieldValueTooMany": gettext_noop("There are too many."),
    "FieldValueInvalid": gettext_noop("“%(value)s” is not allowed here."),
    "FieldValueTypeInvalid": gettext_noop("“%(value)s” is not allowed here."),
    "Forbidden": gettext_noop("The API server does not allow this."),
    "Conflict": gettext_noop("The object was changed meanwhile. Check it, and try again."),
    "": gettext_noop("The API server refuses this."),
}
"""Reason of a cause or of a Status -> what is said where no rule is known: with upstream's text shown beside
it."""

WITHOUT_VALUE: Final = gettext_noop("What is written here is not allowed.")
"""What is said of an invalid value that upstream's text does not have, where no rule is known."""

CHANGE: Final = (
    "immutable",
    "may not change",
    "may not be changed",
    "may not be updated",
    "cannot be changed",
    "cannot be updated",
    "pod updates may not",
    "are forbidden",
)
"""Words of upstream for a field that an update may not change."""
NEAREST: Final = gettext_noop(
    "“%(value)s” is not one of the allowed values: %(choices)s. Did you mean “%(nearest)s”?"
)
ONE_OF_THESE: Final = gettext_noop("One of these values is needed here: %(choices)s.")
WITH_SUGGESTION: Final = gettext_noop("%(sentence)s “%(valid)s” would be valid.")

RULES: Final = (
    *(Rule(pattern, sentence, suggest) for pattern, sentence, suggest in _NAMED),
    Rule(
        "name or generateName is required|can not be empty|the scenario needs a name",
        GENERAL["FieldValueRequired"],
    ),
    Rule(r"must be one of (?P<choices>.*)", GENERAL["FieldValueNotSupported"]),
    *(Rule(pattern, sentence) for pattern, sentence in (*CONFIGURATION, *_SENTENCES)),
)
