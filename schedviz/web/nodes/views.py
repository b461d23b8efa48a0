"""The panel of a node, and the actions in it."""

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext

from schedviz.api import removal
from schedviz.web.answers import done, missing_object, panel, unfolded
from schedviz.web.forms.notation import items
from schedviz.web.kubectl import lines
from schedviz.web.nodes.panel import node_detail
from schedviz.web.objects import actions as object_actions
from schedviz.web.objects.drain import Drained, drain_node
from schedviz.web.picture.picture import NODES
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import Source, address, find_at, find_present, find_sandbox
from schedviz.web.text import format as fmt
from simulator.apiserver import resources
from simulator.apiserver.status import StatusError
from simulator.objects.node_status import FAILED, PRESSURE

ANNOTATED = {
    "break": f"{FAILED}=true",
    "mend": f"{FAILED}-",
    "press": f"{PRESSURE}=memory",
    "relieve": f"{PRESSURE}-",
}
"""Action on a node -> the annotation that it sets or removes, in the notation of kubectl annotate."""


def node_panel(request: HttpRequest, name: str, node: str, seq: int | None = None) -> HttpResponse:
    return show_node(request, find_at(name, seq), node)


def change_node(request: HttpRequest, name: str, node: str, action: str) -> HttpResponse:
    """Change a node. action: cordon, uncordon, drain, taint (field ``taint``: key=value:Effect, or with "-"
    at its end to remove the taint), label (field ``label``: key=value, or key-), a key of ANNOTATED, or
    delete."""
    sandbox, error, acted, drained = find_sandbox(name), "", "", None
    try:
        match action:
            case "cordon" | "uncordon":
                object_actions.cordon(sandbox, node, action == "cordon")
                acted = lines.kubectl(action, node)
            case "drain":
                drained = drain_node(sandbox, node)
                acted = lines.drain(node)
            case "label":
                wanted = items(request.POST.get("label", ""))
                object_actions.set_metadata(sandbox, resources.NODES, node, "labels", wanted)
                acted = lines.object_command("label", resources.NODES, node, *wanted)
            case "taint":
                taint = request.POST.get("taint", "").strip()
                object_actions.taint(sandbox, node, taint)
                acted = lines.kubectl("taint", "nodes", node, taint)
            case _ if action in ANNOTATED:
                object_actions.set_metadata(
                    sandbox, resources.NODES, node, "annotations", [ANNOTATED[action]]
                )
                acted = lines.object_command("annotate", resources.NODES, node, ANNOTATED[action])
            case "delete":
                removal.delete(sandbox, NODES, node)
                line = lines.object_command("delete", resources.NODES, node)
                return done(request, sandbox, "schedviz:gone", line)
            case _:
                raise Http404
    except StatusError as refused:
        error = explain_refusal(refused)
    except ValidationError as wrong:
        error = " ".join(wrong.messages)
    return show_node(request, find_present(name), node, error, acted=acted, drained=drained)


def show_node(
    request: HttpRequest,
    sandbox: Source,
    node: str,
    error: str = "",
    *,
    acted: str = "",
    drained: Drained | None = None,
) -> HttpResponse:
    view = node_detail(sandbox, node, address(sandbox), unfolded(request))
    if view is None:
        return missing_object(request, sandbox, "Node", node)
    subject = gettext("Node %(node)s") % {"node": node}
    context = {
        "view": view,
        "error": error,
        "typed": request.POST if error else {},
        "acted": acted,
        "outcome": "nodes/drained.html" if drained else "",
        "drained": drained,
        "drained_at": fmt.clock(sandbox.now()),
        "subject": subject,
    }
    return panel(request, sandbox, "nodes/node.html", context, 422 if error else 200)
