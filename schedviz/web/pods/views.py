"""The panel of a pod, and the actions in it."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

from schedviz.api import removal, write
from schedviz.store.past import Past
from schedviz.web.answers import done, missing_object, panel, unfolded
from schedviz.web.kubectl import lines
from schedviz.web.picture.picture import PODS
from schedviz.web.pods.panel import deleted_pod, pod_detail
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import Source, address, find_at, find_present, find_sandbox
from schedviz.web.what_if.follow_up import follow_up_of
from simulator.apiserver import resources
from simulator.apiserver.status import StatusError
from simulator.scheduler.pod_annotations import ANNOTATION, APPROVE, REJECT, annotation_value


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
        return show_pod(request, find_present(name), key, explain_refusal(error))
    acted = lines.object_command("delete", resources.PODS, key)
    return show_pod(request, find_present(name), key, acted=acted)


def permit(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Approve or reject (field ``word``) a pod that waits on Permit. If it does not wait any more, nothing
    happens."""
    source, key, word = find_present(name), f"{namespace}/{pod}", request.POST.get("word")
    if word not in (APPROVE, REJECT):
        return HttpResponseBadRequest("word must be approve or reject", content_type="text/plain")
    entry = source.queue_place(key)
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
    view = pod_detail(sandbox, key, address(sandbox), unfolded(request))
    if view is None:
        return show_deleted_pod(request, sandbox, key, acted)
    context = {
        "view": view,
        "error": error,
        "acted": acted,
        "follow_up": None if isinstance(sandbox, Past) else follow_up_of(sandbox, key),
        "subject": f"Pod {view.name}",
    }
    return panel(request, sandbox, "pods/pod.html", context, 422 if error else 200)


def show_deleted_pod(request: HttpRequest, sandbox: Source, key: str, acted: str) -> HttpResponse:
    """Render the panel of a deleted pod, as long as the trace has events of it."""
    view = deleted_pod(sandbox, key, address(sandbox))
    if view is None:
        return missing_object(request, sandbox, "Pod", key)
    context = {"view": view, "acted": acted, "subject": f"Pod {view.name}"}
    return panel(request, sandbox, "pods/gone.html", context)
