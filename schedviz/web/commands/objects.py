"""Commands on objects. What they say is what kubectl says."""

from typing import Final

from django import forms
from django.utils.translation import gettext

from schedviz.api import write
from schedviz.web import acts
from schedviz.web import drain as drains
from schedviz.web.commands import names
from schedviz.web.commands.line import Bad, Call, Said
from schedviz.web.forms import FORMS, ManifestForm
from schedviz.web.forms.in_step import InStep
from schedviz.web.kubectl import lines
from schedviz.web.kubectl.tables import get_table
from schedviz.web.view.yaml import to_yaml
from simulator.apiserver.resources import NODES, PODS, Resource
from simulator.apiserver.status import StatusError

SAID_AT_MOST: Final = 20
"""Lines said of one command; of a form's two hundred copies the rest would only push the field away."""
ROWS_AT_MOST: Final = 200
"""Rows of a table that get prints into the bar; the page itself draws them all."""


def name(resource: Resource, key: str) -> str:
    """As kubectl prints an object: ``deployment.apps/web``."""
    kind = f"{resource.singular}.{resource.group}" if resource.group else resource.singular
    return f"{kind}/{key.rpartition('/')[2]}"


def shortened(said: list[str]) -> str:
    more = len(said) - SAID_AT_MOST
    if more > 0:
        said = [*said[:SAID_AT_MOST], gettext("and %(n)s more") % {"n": more}]
    return "\n".join(said)


def create(kind: str, call: Call, **preset: str) -> Said:
    """By the form of that kind: what is not said is what the form proposes, but for the ``preset`` fields."""
    form = FORMS[kind]
    start = form.start(call.sandbox)
    flags = preset | {flag_field(form, flag): value for flag, value in call.flags.items()}
    both = InStep(form, call.sandbox, start, flags | ({"name": call.arguments[0]} if call.arguments else {}))
    if both.manifest is not None and both.fine:
        manifests = both.form.manifests(both.manifest)
        try:
            made = write.create(call.sandbox, manifests)
        except StatusError as error:
            both.take(error.causes, error.message)
        else:
            said = [f"{each['kind'].lower()}/{each['metadata']['name']} created" for each in made]
            return Said(shortened(said), lines.create(manifests))
    raise Bad("\n".join([*wrong(both.form), *both.problems]))


def flag_name(field: str) -> str:
    """The flag of a form's field: its first word where that says enough."""
    return {"priority_class": "priority"}.get(field, field.replace("_", "-"))


def flag_field(form: type[ManifestForm], flag: str) -> str:
    return next(field for field in form.base_fields if flag_name(field) == flag)


def wrong(form: forms.Form) -> list[str]:
    said = []
    for field, errors in form.errors.items():
        where = f"--{flag_name(field)}: " if field in form.fields and field != "name" else ""
        said += [where + str(error) for error in errors]
    return said


def delete(call: Call) -> Said:
    resource, keys = names.objects(call)
    for key in keys:
        write.delete(call.sandbox, resource.id, key)
    said = [f"{name(resource, key).replace('/', ' ', 1)} deleted" for key in keys]
    return Said(shortened(said), "\n".join(lines.on("delete", resource, key) for key in keys[:SAID_AT_MOST]))


def evict(call: Call) -> Said:
    key = names.key(PODS, call.arguments[0], call.namespace)
    write.evict(call.sandbox, key)
    return Said(f"evicting pod {key}")


def cordon(call: Call) -> Said:
    return cordoned(call, "cordon")


def uncordon(call: Call) -> Said:
    return cordoned(call, "uncordon")


def cordoned(call: Call, verb: str) -> Said:
    node = call.arguments[0]
    acts.cordon(call.sandbox, node, verb == "cordon")
    return Said(f"node/{node} {verb}ed", lines.kubectl(verb, node))


def drain(call: Call) -> Said:
    node = call.arguments[0]
    outcome = drains.drain(call.sandbox, node)
    said = [f"node/{node} cordoned", *(drained(each) for each in outcome.outcomes)]
    last = f"There are pending nodes to be drained:\n {node}" if outcome.refused else f"node/{node} drained"
    return Said(shortened([*said, last]), lines.drain(node))


def drained(outcome: drains.Outcome) -> str:
    match outcome.end:
        case "daemon":
            return f"Warning: ignoring DaemonSet-managed Pods: {outcome.pod}"
        case "static":
            return f"ignoring static pod {outcome.pod}"
        case "refused":
            return f"error when evicting pod {outcome.pod}: {outcome.message}"
    return f"evicting pod {outcome.pod}"


def taint(call: Call) -> Said:
    node, *wanted = call.arguments
    for each in wanted:
        acts.taint(call.sandbox, node, each)
    verb = "untainted" if all(each.endswith("-") for each in wanted) else "tainted"
    return Said(f"node/{node} {verb}", lines.kubectl("taint", "nodes", node, *wanted))


def label(call: Call) -> Said:
    return marked(call, "label", "labels", "labeled")


def annotate(call: Call) -> Said:
    return marked(call, "annotate", "annotations", "annotated")


def marked(call: Call, verb: str, field: str, past: str) -> Said:
    resource, key, changes = names.one(call)
    if not changes:
        raise Bad(gettext("Say which: key=value, or key- to take it away."))
    acts.mark(call.sandbox, resource, key, field, changes)
    return Said(f"{name(resource, key)} {past}", lines.on(verb, resource, key, *changes))


def fail(call: Call) -> Said:
    """Break a node, or mend it: an annotation, as docs/CLUSTER.md tells."""
    return annotated(call, "schedviz/failed=true")


def mend(call: Call) -> Said:
    return annotated(call, "schedviz/failed-")


def annotated(call: Call, change: str) -> Said:
    node = call.arguments[-1]
    acts.mark(call.sandbox, NODES, node, "annotations", [change])
    return Said(f"node/{node} annotated", lines.on("annotate", NODES, node, change))


def scale(call: Call) -> Said:
    resource, key, rest = names.one(call)
    count = call.flags.get("replicas", rest[0] if rest else "")
    if not count.isdecimal():
        raise Bad(gettext("Say how many: a number from 0."))
    acts.scale(call.sandbox, resource, key, int(count))
    return Said(f"{name(resource, key)} scaled", lines.on("scale", resource, key, f"--replicas={count}"))


def get(call: Call) -> Said:
    resource = names.resource(call.sandbox, call.arguments[0].partition("/")[0])
    wanted: list[str] | None = None
    if len(call.arguments) > 1 or "/" in call.arguments[0]:
        _, wanted = names.objects(call)
    everywhere = "all-namespaces" in call.flags
    text = get_table(
        call.sandbox,
        resource,
        keys=wanted,
        namespace="" if everywhere else call.namespace,
        wide=call.flags.get("output") == "wide",
        at_most=ROWS_AT_MOST,
    )
    if call.flags.get("output") == "yaml":
        found = [call.sandbox.get(resource.id, key) for key in wanted or ()]
        text = to_yaml([each for each in found if each]) or text
    words = ("-A",) if everywhere else lines.inside(call.namespace) if resource.namespaced else ()
    output = ("-o", call.flags["output"]) if "output" in call.flags else ()
    named = [each.rpartition("/")[2] for each in wanted or ()]
    return Said(text, lines.kubectl("get", resource.plural, *named, *output, *words))


def describe(call: Call) -> Said:
    """The panel of an object; of a pod also when it is gone."""
    resource, key, _ = names.one(call)
    if resource != PODS:
        there(call, resource, key)
    path = f"{resource.plural}/{key}/" if resource in (PODS, NODES) else f"objects/{resource.id}/{key}/"
    return Said(panel=path)


def edit(call: Call) -> Said:
    resource, key, _ = names.one(call)
    there(call, resource, key)
    return Said(dialog=f"edit/{resource.id}/{key}/")


def there(call: Call, resource: Resource, key: str) -> None:
    """Raises Bad."""
    if call.sandbox.get(resource.id, key) is None:
        said = {"kind": resource.singular, "name": key.removeprefix("default/")}
        raise Bad(gettext("There is no %(kind)s %(name)s.") % said)


def browse(call: Call) -> Said:
    """All kinds, or all objects of one."""
    if not call.arguments:
        return Said(panel="objects/")
    return Said(panel=f"objects/{names.resource(call.sandbox, call.arguments[0]).id}/")
