"""The page on which a workload is played: in a new sandbox, or in memory."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from schedviz.jobs.comparison_job import RECORDED
from schedviz.limits.requester import new_record
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.answers import is_htmx, redirected
from schedviz.web.compare import form
from schedviz.web.imports.take import ImportFailed
from schedviz.web.imports.uploads import is_given, uploaded_file
from schedviz.web.imports.workload import SPEEDS, create_from_workload, read_workload
from schedviz.web.limits import text_of, with_time
from schedviz.web.reasons.faults import explain_refusal
from simulator.apiserver.status import StatusError
from simulator.commands.play import WorkloadHeader
from simulator.dumps.dump_files import MAX_DUMP_BYTES


def play_workload(request: HttpRequest) -> HttpResponse:
    """Render the page. Fields: ``arrivals``, a file, or ``arrivals_text``; ``nodes`` or ``nodes_text``, which
    may be missing; ``name`` of the new sandbox; ``speed``; ``anyway``, whether it is created although pods
    fit no node. ``do`` = "look" only says what would be played."""
    if request.method != "POST":
        return workload_page(request)
    speed = request.POST.get("speed", SPEEDS[0])
    try:
        with (
            workload_files(request) as (arrivals, nodes),
            read_workload(default_store(), arrivals, nodes, shares_of(request)) as read,
        ):
            asks = bool(read.header.unfit) and not request.POST.get("anyway")
            if request.POST.get("do") == "look" or asks:
                return workload_page(request, header=read.header, asks=asks)
            sandbox = create_from_workload(
                default_store(),
                read,
                request.POST.get("name", "").strip(),
                speed if speed in SPEEDS else SPEEDS[0],
                new_record(request),
            )
    except LimitExceeded as full:
        return with_time(workload_page(request, error=text_of(full.limit, full.retry_after_seconds)), full)
    except ImportFailed as failed:
        return workload_page(request, error=str(failed))
    except (StatusError, ValueError) as refused:
        return workload_page(request, error=explain_refusal(refused))
    return redirected(request, reverse("sandbox", args=[sandbox.name]))


@contextmanager
def workload_files(request: HttpRequest) -> Iterator[tuple[Path, Path | None]]:
    """Context manager: write the arrivals and the nodes of the form to temporary files; None = there are no
    nodes. Raises ImportFailed."""
    with ExitStack() as files:
        arrivals = files.enter_context(uploaded_file(request, "arrivals", "arrivals_text"))
        nodes = None
        if is_given(request, "nodes", "nodes_text"):
            nodes = files.enter_context(uploaded_file(request, "nodes", "nodes_text"))
        yield arrivals, nodes


def workload_page(
    request: HttpRequest, header: WorkloadHeader | None = None, error: str = "", *, asks: bool = False
) -> HttpResponse:
    """Render the page. header: what would be played; asks: whether it is to be confirmed, as pods fit no
    node."""
    context = {
        "header": header,
        "error": error,
        "asks": asks,
        "speeds": SPEEDS,
        "speed": request.POST.get("speed", SPEEDS[0]),
        "name": request.POST.get("name", ""),
        "arrivals_text": request.POST.get("arrivals_text", ""),
        "nodes_text": request.POST.get("nodes_text", ""),
        "anyway": request.POST.get("anyway", ""),
        "sides": _sides(request),
        "versions": form.OFFERED_VERSIONS,
        "mib": MAX_DUMP_BYTES >> 20,
    }
    if is_htmx(request):
        # Status 200, because browsers log every status from 400 on as an error.
        return render(request, "compare/workload_outcome.html", context)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error or asks else HTTPStatus.OK
    return render(request, "compare/workload.html", context, status=status)


def _sides(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the schedulers that play in memory: the second may lack, and none is a recording."""
    sides = form.sides_of_form(request.POST, {}, {"a": form.OWN, "b": ""})
    presets = [each for each in form.PRESETS if each.name != RECORDED]
    return [{**side, "presets": presets, "may_lack": side["name"] == "b"} for side in sides]
