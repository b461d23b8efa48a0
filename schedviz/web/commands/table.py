"""The table of all commands, and the function that runs a line."""

from functools import partial
from typing import Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.commands import names, objects, page, proposals
from schedviz.web.commands.line import Argument, Command, CommandError, CommandResult, Flag, parse_call, split
from schedviz.web.forms import FORMS, ManifestForm
from simulator.apiserver.status import StatusError

KIND: Final = Argument("KIND", names.kinds)
NAME: Final = Argument("NAME", names.names)
NAMES: Final = Argument("NAME", names.names, repeated=True)
NODE: Final = Argument("NODE", names.nodes)
POD: Final = Argument("POD", names.pods)
PAIRS: Final = Argument("KEY=VALUE", repeated=True, optional=True)

NAMESPACE: Final = {"namespace": Flag(_("the namespace; without it, default"), names.namespaces, "n")}
OUTPUT: Final = {
    "output": Flag(_("wide or yaml"), proposals.fixed("wide", "yaml"), "o"),
    "all-namespaces": Flag(_("of all namespaces"), short="A", switch=True),
}


def creating(kind: str, form: type[ManifestForm]) -> Command:
    """Return the ``create`` command of a form, whose flags are the form's fields."""
    flags = {
        objects.flag_name(field): Flag(each.help_text or each.label, proposals.field(kind, field))
        for field, each in form.base_fields.items()
        if field != "name"
    }
    return Command(
        f"create {kind}", form.title, partial(objects.create, kind),
        (Argument("NAME", optional=True),), flags, (f"new {kind}", f"add {kind}"),
    )  # fmt: skip


def creating_workload(kind: str) -> Command:
    """Return the ``create`` command of a workload, which the form of pods creates by its field
    ``workload``."""
    pods = creating("pod", FORMS["pod"])
    flags = {name: flag for name, flag in pods.flags.items() if name != "workload"}
    run = partial(objects.create, "pod", workload=kind)
    return Command(f"create {kind.lower()}", kind, run, pods.arguments, flags, (f"new {kind.lower()}",))


COMMANDS: Final = (
    *(creating(kind, form) for kind, form in FORMS.items()),
    *(creating_workload(kind) for kind in ("Deployment", "Job")),
    Command("form", _("open the form of a kind"), page.form, (Argument("KIND", proposals.fixed(*FORMS)),)),
    Command("apply", _("create from YAML"), page.paste, also=("yaml", "create yaml")),
    Command("edit", _("change an object, by its form and its YAML"), objects.edit,
            (KIND, Argument("NAME", names.names, optional=True)), NAMESPACE),
    Command("delete", _("delete objects; a bound pod gets its grace period"), objects.delete,
            (KIND, NAMES), NAMESPACE, ("remove", "rm")),
    Command("evict", _("delete a pod, if its disruption budgets allow it"), objects.evict, (POD,), NAMESPACE),
    Command("get", _("list objects"), objects.get,
            (KIND, Argument("NAME", names.names, optional=True, repeated=True)), {**NAMESPACE, **OUTPUT},
            ("list",)),
    Command("describe", _("describe an object"), objects.describe,
            (KIND, Argument("NAME", names.names, optional=True)), NAMESPACE, ("show", "open")),
    Command("cordon", _("make a node unschedulable"), objects.cordon, (NODE,)),
    Command("uncordon", _("make a node schedulable again"), objects.uncordon, (NODE,)),
    Command("drain", _("cordon a node and evict its pods, as budgets allow"), objects.drain, (NODE,)),
    Command("taint", _("taint a node; - at the end removes the taint"), objects.taint,
            (NODE, Argument("KEY=VALUE:EFFECT", proposals.taints, repeated=True)),
            also=("taint node", "taint nodes")),
    Command("label", _("set a label; key- removes it"), objects.label, (KIND, NAME, PAIRS), NAMESPACE),
    Command("annotate", _("set an annotation; key- removes it"), objects.annotate,
            (KIND, NAME, PAIRS), NAMESPACE),
    Command("scale", _("scale a Deployment or a ReplicaSet"), objects.scale,
            (Argument("KIND", proposals.scalable), NAME, Argument("COUNT", optional=True)),
            {**NAMESPACE, "replicas": Flag(_("how many"))}),
    Command("fail node", _("make a node fail: its kubelet stops reporting"), objects.fail, (NODE,),
            also=("fail", "break node")),
    Command("repair node", _("repair a failed node"), objects.repair, (NODE,), also=("repair", "mend node")),
    Command("undo", _("undo the last change of the cluster"), page.undo),
    Command("pause", _("pause simulated time"), page.pause, also=("stop",)),
    Command("resume", _("resume simulated time"), page.resume, also=("play", "continue", "run")),
    Command("step", _("run the next extension point, the next event, or a whole cycle"), page.step,
            (Argument("UNIT", proposals.fixed("point", "event", "cycle"), optional=True),
             Argument("COUNT", optional=True)),
            also=("next",)),
    Command("speed", _("set the simulated seconds per second"), page.speed,
            (Argument("FACTOR", proposals.fixed("0.1", "1", "4", "10", "100", "max")),)),
    Command("until", _("run, and pause when something happens"), page.until,
            (Argument("CONDITION", proposals.fixed("nothing-pending", "preemption", "bound")),
             Argument("POD", names.pods, optional=True)), also=("run until",)),
    Command("try each", _("try every pending pod once, and pause"), page.try_each,
            also=("try", "try all", "try every pending pod once")),
    Command("pending", _("show why each pending pod is pending"), page.pending),
    Command("goto", _("open the permalink of a cycle"), page.goto,
            (Argument("CYCLE", proposals.cycles),), also=("goto cycle", "cycle")),
    Command("filter", _("filter pods and nodes"), page.filter_,
            (Argument("TERM", proposals.states, optional=True, repeated=True),), also=("find", "search")),
    Command("objects", _("show all objects, or all of one kind"), objects.browse,
            (Argument("KIND", names.kinds, optional=True),), also=("browse",)),
    Command("config", _("open the scheduler's configuration"), page.config,
            also=("scheduler", "configuration")),
    Command("outside", _("show how an outside scheduler connects"), page.outside, also=("connect", "guest")),
    Command("stand down", _("leave all pods to an outside scheduler"), page.stand_down),
    Command("schedule again", _("let this sandbox's scheduler schedule again"), page.schedule_again),
    Command("as table", _("show all nodes in a table"), page.table, also=("table",)),
    Command("leader", _("show the leader, and since when"), page.leader),
    Command("theme", _("choose light, dark, or the theme of the system"), page.theme,
            (Argument("THEME", proposals.fixed(*page.THEMES)),)),
    Command("language", _("choose the language of the page"), page.language,
            (Argument("LANGUAGE", proposals.languages),), also=("lang",)),
)  # fmt: skip


def find_command(words: list[str]) -> tuple[Command, list[str]] | None:
    """Return the command with the longest name or alias at the beginning of the words, and the words after
    it."""
    found: tuple[Command, list[str]] | None = None
    longest = 0
    for command in COMMANDS:
        for name in (command.words, *command.also):
            own = name.split()
            if len(own) > longest and [word.lower() for word in words[: len(own)]] == own:
                found, longest = (command, words[len(own) :]), len(own)
    return found


def run(source: Readable, text: str) -> CommandResult:
    """Run a line. Raises CommandError; a command on several objects may have changed some of them then."""
    words = split(text)
    if not words:
        raise CommandError(gettext("Type a command: create pod, for example."))
    found = find_command(words)
    if found is None:
        raise CommandError(gettext("There is no command “%(word)s”.") % {"word": " ".join(words[:2])})
    command, rest = found
    try:
        return command.run(parse_call(command, source, rest))
    except StatusError as error:
        raise CommandError(error.message) from None
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    except ValueError as error:  # a clock's bounds
        raise CommandError(str(error)) from None
