"""The panels of a pod and of a node, and the actions in them."""

from contextlib import suppress

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils.translation import gettext

from schedviz.api import removal, write
from schedviz.store.past import Past
from schedviz.web import object_actions
from schedviz.web.drain import Drained, drain_node
from schedviz.web.forms.notation import items
from schedviz.web.kubectl import lines
from schedviz.web.page import (
    Source,
    done,
    find_at,
    find_present,
    find_sandbox,
    missing_panel,
    panel,
    unfolded,
)
from schedviz.web.presenters import details
from schedviz.web.presenters import format as fmt
from schedviz.web.presenters.picture import NODES, PODS
from schedviz.web.screens import address
from schedviz.web.views.why import follow_up_of
from simulator.apiserver import resources
from simulator.apiserver.status import StatusError
from simulator.objects.node_status import FAILED, PRESSURE
from simulator.scheduler.pod_annotations import ANNOTATION, APPROVE, REJECT, annotation_value

ANNOTATED = {
    "break": f"{FAILED}=true",
    "mend": f"{FAILED}-",
    "press": f"{PRESSURE}=memory",
    "relieve": f"{PRESSURE}-",
}
"""Action on a node -> the annotation that it sets or removes, in the notation of kubectl annotate."""


def pod_panel(
    request: HttpRequest, name: str, namespace: str, pod: str, seq: int | None = None
) -> HttpResponse:
    return show_pod(request, find_at(name, seq), f"{namespace}/{pod}")


def delete_pod(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Delete a pod as kubectl does: a bound pod after its grace period, a pod without a node at once."""
    sandbox, key = find_sandbox(name), f"{namespace}/{pod}"
    try:
        removal.delete(sandbox, PODS, key)
    except StatusError as error:
        return show_pod(request, find_present(name), key, error.message)
    acted = lines.object_command("delete", resources.PODS, key)
    return show_pod(request, find_present(name), key, acted=acted)


def permit(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Approve or reject (field ``word``) a pod that waits on Permit. If it does not wait any more, nothing
    happens."""
    source, key, word = find_present(name), f"{namespace}/{pod}", request.POST.get("word")
    if word not in (APPROVE, REJECT):
        return HttpResponseBadRequest("word must be approve or reject", content_type="text/plain")
    entry = source.lane(key)
    if entry is not None and entry.lane == "waiting":
        value = annotation_value(word, entry.attempts)
        with suppress(StatusError):  # the pod was deleted meanwhile
            write.patch(source.sandbox, PODS, key, {"metadata": {"annotations": {ANNOTATION: value}}})
            line = lines.object_command(
                "annotate", resources.PODS, key, f"{ANNOTATION}={value}", "--overwrite"
            )
            return done(request, source, "schedviz:permit", line)
    return done(request, source, "schedviz:permit")


def show_pod(
    request: HttpRequest, sandbox: Source, key: str, error: str = "", acted: str = ""
) -> HttpResponse:
    view = details.pod_detail(sandbox, key, address(sandbox), unfolded(request))
    if view is None:
        return show_deleted_pod(request, sandbox, key, acted)
    context = {
        "view": view,
        "error": error,
        "acted": acted,
        "follow_up": None if isinstance(sandbox, Past) else follow_up_of(sandbox, key),
        "subject": f"Pod {view.name}",
    }
    return panel(request, sandbox, "panels/pod.html", context, 422 if error else 200)


def show_deleted_pod(request: HttpRequest, sandbox: Source, key: str, acted: str) -> HttpResponse:
    """Render the panel of a deleted pod, as long as the trace has events of it."""
    view = details.deleted_pod(sandbox, key, address(sandbox))
    if view is None:
        return missing_panel(request, sandbox, gettext("Pod %(key)s no longer exists.") % {"key": key})
    context = {"view": view, "acted": acted, "subject": f"Pod {view.name}"}
    return panel(request, sandbox, "panels/gone.html", context)


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
        error = refused.message
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
    view = details.node_detail(sandbox, node, address(sandbox), unfolded(request))
    if view is None:
        return missing_panel(request, sandbox, gettext("Node %(node)s no longer exists.") % {"node": node})
    subject = gettext("Node %(node)s") % {"node": node}
    context = {
        "view": view,
        "error": error,
        "typed": request.POST if error else {},
        "acted": acted,
        "outcome": "panels/drained.html" if drained else "",
        "drained": drained,
        "drained_at": fmt.clock(sandbox.now()),
        "subject": subject,
    }
    return panel(request, sandbox, "panels/node.html", context, 422 if error else 200)
