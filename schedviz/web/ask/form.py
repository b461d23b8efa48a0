"""The forms of the questions, and the reading of their fields."""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast, get_args

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.web.reasons.yaml_faults import explain_problem, explain_text, placed
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.questions.answer import BadQuestion
from simulator.questions.fields import WITH_MANIFESTS, QuestionFields, QuestionName, parameters_of
from simulator.questions.several_seeds import SEEDS_AT_MOST

MAX_TEXT: Final = 500_000
"""Maximum number of characters of manifests, as in a comparison."""


class AskableQuestion(NamedTuple):
    name: QuestionName
    title: str | Promise
    lede: str | Promise


QUESTIONS: Final = (
    AskableQuestion(
        "fits",
        _("Will this fit?"),
        _("Where each pod of these manifests lands, who is evicted for it, and where those run again."),
    ),
    AskableQuestion(
        "more",
        _("How many more?"),
        _("How many more of a pod fit, what each node lacks for one more, and why no more fits."),
    ),
    AskableQuestion(
        "drain",
        _("Where do the pods go?"),
        _("Drain nodes: the order in which budgets let pods leave, where they run, and which stay."),
    ),
    AskableQuestion(
        "removable",
        _("Which nodes can be removed?"),
        _("As many as possible together, and what keeps each of the others."),
    ),
    AskableQuestion(
        "add",
        _("How many nodes are needed?"),
        _("The nodes of a shape with which all pending pods run, and the cheapest of several shapes."),
    ),
    AskableQuestion(
        "evictions",
        _("Who evicted whom?"),
        _("The evictions in this sandbox by who caused and who suffered them, and until when."),
    ),
)


class InvalidField(ValueError):
    """The value of a form field is invalid."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def question_named(name: str) -> AskableQuestion:
    """Return the question of this name; the first one for any other."""
    return next((each for each in QUESTIONS if each.name == name), QUESTIONS[0])


def read_form(posted: Mapping[str, str], nodes: Mapping[str, Manifest]) -> QuestionFields:
    """Read the posted form of a question. nodes: those of the sandbox. Raises InvalidField."""
    name = posted.get("question", "")
    if name not in get_args(QuestionName):
        raise InvalidField("", gettext("Choose a question."))
    question = cast("QuestionName", name)
    fields = QuestionFields(
        question=question,
        manifests=_manifests(posted.get("manifests", "")) if question in WITH_MANIFESTS else [],
        sizes=[_number(each, "sizes", 1) for each in posted.get("sizes", "").replace(",", " ").split()],
        at_most=_number(posted.get("at_most", ""), "at_most", 1) if posted.get("at_most") else 0,
        nodes=posted.get("nodes", "").replace(",", " ").split(),
        selector=posted.get("selector", "").strip(),
        zone=posted.get("zone", "").strip(),
        emptiest=_number(posted.get("emptiest", ""), "emptiest", 1) if posted.get("emptiest") else 0,
        force=bool(posted.get("force")),
        delete_local=bool(posted.get("delete_local")),
        shapes=[line.strip() for line in posted.get("shapes", "").splitlines() if line.strip()],
        seeds=_number(posted.get("seeds") or "1", "seeds", 1, SEEDS_AT_MOST),
    )
    if question == "evictions":
        return QuestionFields(question=question)
    try:
        parameters_of(fields, nodes)
    except BadQuestion as wrong:
        raise InvalidField(*explain_question(str(wrong))) from None
    for node in fields.nodes:
        if node not in nodes:
            raise InvalidField("nodes", gettext("There is no node “%(name)s”.") % {"name": node})
    return fields


def explain_question(message: str) -> tuple[str, str]:
    """Return the field that the message of a BadQuestion names ("" = none of the form), and what is wrong
    with it, in the language of the page."""
    place, _, problem = message.partition(": ")
    name, _, index = place.partition("[")
    if name not in QuestionFields.__struct_fields__:
        return "", message
    text = explain_problem(problem) or problem
    number = int(index.removesuffix("]") or -1) + 1
    if name == "shapes" and number:
        return name, placed(text, number, None)
    if name == "manifests" and number > 1:
        return name, gettext("Document %(number)s: %(text)s") % {"number": number, "text": text}
    return name, text


def _manifests(text: str) -> list[Manifest]:
    if not text.strip():
        raise InvalidField("manifests", gettext("Paste manifests first."))
    if len(text) > MAX_TEXT:
        raise InvalidField("manifests", gettext("At most %(n)s characters.") % {"n": MAX_TEXT})
    try:
        return parse_manifests(text)
    except ManifestError as error:
        raise InvalidField("manifests", explain_text(error).text) from None


def _number(text: str, field: str, least: int, most: int = 10**9) -> int:
    if not (text.isascii() and text.isdecimal()) or not least <= int(text[:12]) <= most:
        message = gettext("A whole number from %(least)s.") % {"least": least}
        if most < 10**9:
            message = gettext("A whole number from %(least)s to %(most)s.") % {"least": least, "most": most}
        raise InvalidField(field, message)
    return int(text)
