"""The rules of the fields of questions about a whole cluster: what is wrong with them, in plain words.

A problem is recognised by the text of a BadQuestion (:mod:`simulator.questions`), without the field."""

from typing import Final

from django.utils.translation import gettext_noop

QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    (r"from 1 to (?P<most>\d+)", gettext_noop("The number must be from 1 to %(most)s.")),
    (r"there is no (?:pod|object)", gettext_noop("There is no document in the text.")),
    (r"there must be a number from 1 for each pod", gettext_noop("Give a number from 1 for each pod.")),
    (r"(?P<kind>\S+) has no pod template", gettext_noop("%(kind)s has no pod template.")),
    (
        r"the pod template does not have the form of one",
        gettext_noop("The pod template does not have the form of one."),
    ),
    (
        r"spec\.nodeName is set, so that no scheduler places the pod",
        gettext_noop("The pod has spec.nodeName, so that no scheduler places it."),
    ),
    (r"there is no node", gettext_noop("There are no nodes.")),
    (r"(?:like: )?there is no node '(?P<name>.*)'", gettext_noop("There is no node “%(name)s”.")),
    (r"no node is chosen", gettext_noop("No node matches.")),
    (
        r"name the nodes, by name, labels or zone, or as the emptiest ones",
        gettext_noop("Choose nodes: by name, by labels, by zone, or the emptiest ones."),
    ),
    (r"at most (?P<n>\d+) characters", gettext_noop("At most %(n)s characters.")),
    (
        r"(?P<key>\S+) is given twice",
        gettext_noop("The field “%(key)s” is there twice. Keep one of the two."),
    ),
    (
        r"'(?P<value>.*)' is none of (?P<choices>.*) or an extended resource",
        gettext_noop("“%(value)s” is neither an extended resource nor one of these: %(choices)s."),
    ),
    (r"(?P<name>cpu|memory) is missing", gettext_noop("“%(name)s” is missing.")),
    (
        r"price: '(?P<value>.*)' is not a number from 0",
        gettext_noop("The price “%(value)s” is no number from 0."),
    ),
    (r"\S+: (?P<value>\S+) is negative", gettext_noop("“%(value)s” is too small: it must be 0 or more.")),
    (
        r"\S+: (?:unable to parse quantity|quantities must match).*",
        gettext_noop("An amount is written as 500m, 2 or 4Gi."),
    ),
)
