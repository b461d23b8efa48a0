"""Commands on objects. Their output is that of kubectl."""

from typing import Final

from django import forms
from django.utils.translation import gettext

from schedviz.api import removal, write
from schedviz.web.commands import names
from schedviz.web.commands.line import Call, CommandError, CommandResult
from schedviz.web.forms import FORMS, ManifestForm
from schedviz.web.forms.all_faults import faults_of
from schedviz.web.forms.form_and_yaml import FormAndYaml
from schedviz.web.kubectl import lines
from schedviz.web.kubectl.tables import get_table
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.objects import actions as object_actions
from schedviz.web.objects import drain as drains
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.status import StatusError

LINES_AT_MOST: Final = 20
"""Maximum number of lines of output of one command; create may make two hundred objects."""
ROWS_AT_MOST: Final = 200
"""Maximum number of rows of the table that ``get`` prints; the page shows all objects."""


def name(resource: Resource, key: str) -> str:
    """Return the name of an object as kubectl prints it: ``deployment.apps/web``."""
    kind = f"{resource.singular}.{resource.group}" if resource.group else resource.singular
    return f"{kind}/{key.rpartition('/')[2]}"


def shortened(output: list[str]) -> str:
    """Return the lines of output, at most LINES_AT_MOST, as text."""
    more = len(output) - LINES_AT_MOST
    if more > 0:
        output = [*output[:LINES_AT_MOST], gettext("and %(n)s more") % {"n": more}]
    return "\n".join(output)


def create(kind: str, call: Call, **preset: str) -> CommandResult:
    """Create an object by the form of its kind. Fields without a flag have the form's initial values;
    ``preset`` overrides these."""
    form = FORMS[kind]
    start = form.start(call.source)
    flags = preset | {flag_field(form, flag): value for flag, value in call.flags.items()}
    both = FormAndYaml(
        form, call.source, start, flags | ({"name": call.arguments[0]} if call.arguments else {})
    )
    if both.manifest is not None and both.valid:
        manifests = both.form.manifests(both.manifest)
        try:
            made = write.create(call.sandbox, manifests)
        except StatusError as error:
            both.add_faults(faults_of(error))
        else:
            output = [f"{each['kind'].lower()}/{each['metadata']['name']} created" for each in made]
            return CommandResult(shortened(output), lines.create(manifests))
    raise CommandError("\n".join([*form_errors(both.form), *(each.text for each in both.problems)]))


def flag_name(field: str) -> str:
    """Return the name of the flag for a field of a form."""
    return {"priority_class": "priority"}.get(field, field.replace("_", "-"))


def flag_field(form: type[ManifestForm], flag: str) -> str:
    return next(field for field in form.base_fields if flag_name(field) == flag)


def form_errors(form: forms.Form) -> list[str]:
    """Return the errors of a form, each with the flag of its field."""
    found = []
    for field, errors in form.errors.items():
        prefix = f"--{flag_name(field)}: " if field in form.fields and field != "name" else ""
        found += [prefix + str(error) for error in errors]
    return found


def delete(call: Call) -> CommandResult:
    resource, keys = names.objects(call)
    for key in keys:
        removal.delete(call.sandbox, resource.id, key)
    output = [f"{name(resource, key).replace('/', ' ', 1)} deleted" for key in keys]
    return CommandResult(
        shortened(output),
        "\n".join(lines.object_command("delete", resource, key) for key in keys[:LINES_AT_MOST]),
    )


def evict(call: Call) -> CommandResult:
    key = names.key(PODS, call.arguments[0], call.namespace)
    removal.evict(call.sandbox, key)
    return CommandResult(f"evicting pod {key}")


def cordon(call: Call) -> CommandResult:
    return cordoned(call, "cordon")


def uncordon(call: Call) -> CommandResult:
    return cordoned(call, "uncordon")


def cordoned(call: Call, verb: str) -> CommandResult:
    node = call.arguments[0]
    object_actions.cordon(call.sandbox, node, verb == "cordon")
    return CommandResult(f"node/{node} {verb}ed", lines.kubectl(verb, node))


def drain(call: Call) -> CommandResult:
    node = call.arguments[0]
    outcome = drains.drain_node(call.sandbox, node)
    output = [f"node/{node} cordoned", *(drained(each) for each in outcome.outcomes)]
    last = f"There are pending nodes to be drained:\n {node}" if outcome.refused else f"node/{node} drained"
    return CommandResult(shortened([*output, last]), lines.drain(node))


def drained(outcome: drains.DrainOutcome) -> str:
    match outcome.end:
        case "daemon":
            return f"Warning: ignoring DaemonSet-managed Pods: {outcome.pod}"
        case "static":
            return f"ignoring static pod {outcome.pod}"
        case "refused":
            return f"error when evicting pod {outcome.pod}: {outcome.message}"
    return f"evicting pod {outcome.pod}"


def taint(call: Call) -> CommandResult:
    node, *wanted = call.arguments
    for each in wanted:
        object_actions.taint(call.sandbox, node, each)
    verb = "untainted" if all(each.endswith("-") for each in wanted) else "tainted"
    return CommandResult(f"node/{node} {verb}", lines.kubectl("taint", "nodes", node, *wanted))


def label(call: Call) -> CommandResult:
    return marked(call, "label", "labels", "labeled")


def annotate(call: Call) -> CommandResult:
    return marked(call, "annotate", "annotations", "annotated")


def marked(call: Call, verb: str, field: str, past: str) -> CommandResult:
    resource, key, changes = names.single_object(call)
    if not changes:
        raise CommandError(gettext("Write key=value, or key- to remove it."))
    object_actions.set_metadata(call.sandbox, resource, key, field, changes)
    return CommandResult(f"{name(resource, key)} {past}", lines.object_command(verb, resource, key, *changes))


def fail(call: Call) -> CommandResult:
    """Simulate the failure of a node, by the annotation that docs/CLUSTER.md describes."""
    return annotated(call, "schedviz/failed=true")


def repair(call: Call) -> CommandResult:
    return annotated(call, "schedviz/failed-")


def annotated(call: Call, change: str) -> CommandResult:
    node = call.arguments[-1]
    object_actions.set_metadata(call.sandbox, NODES, node, "annotations", [change])
    return CommandResult(f"node/{node} annotated", lines.object_command("annotate", NODES, node, change))


def scale(call: Call) -> CommandResult:
    resource, key, rest = names.single_object(call)
    count = call.flags.get("replicas", rest[0] if rest else "")
    if not count.isdecimal():
        raise CommandError(gettext("Write a whole number, 0 or larger."))
    object_actions.scale(call.sandbox, resource, key, int(count))
    return CommandResult(
        f"{name(resource, key)} scaled", lines.object_command("scale", resource, key, f"--replicas={count}")
    )


def get(call: Call) -> CommandResult:
    resource = names.resource(call.source, call.arguments[0].partition("/")[0])
    wanted: list[str] | None = None
    if len(call.arguments) > 1 or "/" in call.arguments[0]:
        _, wanted = names.objects(call)
    everywhere = "all-namespaces" in call.flags
    text = get_table(
        call.source,
        resource,
        keys=wanted,
        namespace="" if everywhere else call.namespace,
        wide=call.flags.get("output") == "wide",
        at_most=ROWS_AT_MOST,
    )
    if call.flags.get("output") == "yaml":
        found = [call.source.get(resource.id, key) for key in wanted or ()]
        text = to_yaml([each for each in found if each]) or text
    words = ("-A",) if everywhere else lines.namespace_flag(call.namespace) if resource.namespaced else ()
    output = ("-o", call.flags["output"]) if "output" in call.flags else ()
    named = [each.rpartition("/")[2] for each in wanted or ()]
    return CommandResult(text, lines.kubectl("get", resource.plural, *named, *output, *words))


def describe(call: Call) -> CommandResult:
    """Open the panel of an object. The panel of a pod also exists after the pod's deletion."""
    resource, key, _ = names.single_object(call)
    if resource != PODS:
        check_exists(call, resource, key)
    path = f"{resource.plural}/{key}/" if resource in (PODS, NODES) else f"objects/{resource.id}/{key}/"
    return CommandResult(panel=path)


def edit(call: Call) -> CommandResult:
    resource, key, _ = names.single_object(call)
    check_exists(call, resource, key)
    return CommandResult(dialog=f"edit/{resource.id}/{key}/")


def check_exists(call: Call, resource: Resource, key: str) -> None:
    """Check that the object exists. Raises CommandError."""
    if call.source.get(resource.id, key) is None:
        subject = {"kind": resource.singular, "name": key.removeprefix("default/")}
        raise CommandError(gettext("There is no %(kind)s %(name)s.") % subject)


def browse(call: Call) -> CommandResult:
    """Open the list of all kinds, or of all objects of one kind."""
    if not call.arguments:
        return CommandResult(panel="objects/")
    return CommandResult(panel=f"objects/{names.resource(call.source, call.arguments[0]).id}/")
