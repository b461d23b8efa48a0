"""The pages of played workloads: for each its progress and its report."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.jobs.comparison_job import RequestedSide
from schedviz.jobs.played_job import PlayedJob, PlayedRequest
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.answers import is_htmx, redirected
from schedviz.web.compare import form
from schedviz.web.compare.report import report_context
from schedviz.web.compare.workload_views import workload_files, workload_page
from schedviz.web.imports.play_job import check_workload, find_played, jobs, packed, submit
from schedviz.web.imports.take import ImportFailed
from schedviz.web.job_pages import progress_answer, progress_context
from schedviz.web.limits import text_of, with_time
from simulator.arrivals.workload import PACE, SEED
from simulator.decision_columns import plain_encoder
from simulator.queueing.queue_version import QueueVersion
from simulator.versions.features import DEFAULT_FEATURES

TITLE_AT_MOST = 100
"""Maximum number of characters of a title: that of a file's name."""


def play_now(request: HttpRequest) -> HttpResponse:
    """Play the workload of the form of :func:`schedviz.web.compare.workload_views.play_workload` in memory.
    Further fields: ``a``, and ``b``, "" = there is no second scheduler, with those of
    :func:`schedviz.web.compare.form.parse_side`."""
    posted = {name: str(value) for name, value in request.POST.items()}
    try:
        with workload_files(request) as (arrivals, nodes):
            uploaded = request.FILES.get("arrivals")
            title = (uploaded and uploaded.name) or ""
            header = check_workload(request, arrivals, nodes)
            if header.unfit and not request.POST.get("anyway"):
                return workload_page(request, header=header, asks=True)
            features = DEFAULT_FEATURES
            own = RequestedSide(
                form.OWN, header.config, QueueVersion.KUBERNETES, SEED, features.version.patch, features.gates
            )
            sides = [form.parse_side(posted, name, own) for name in ("a", "b") if posted.get(name)]
            request_of_job = PlayedRequest(
                title=title[:TITLE_AT_MOST],
                arrivals=packed(arrivals),
                nodes=packed(nodes),
                pace=PACE,
                sides=sides or [own],
            )
        job = submit(request, request_of_job, header)
    except form.InvalidField as invalid:
        return workload_page(request, error=str(invalid))
    except LimitExceeded as full:
        return with_time(workload_page(request, error=text_of(full.limit, full.retry_after_seconds)), full)
    except (ImportFailed, ValueError) as wrong:
        return workload_page(request, error=str(wrong))
    return redirected(request, reverse("played", args=[job.id]))


def played_page(request: HttpRequest, number: str) -> HttpResponse:
    """Return the report or the progress of a played workload. A request of htmx gets the progress only, and a
    header that reloads the page when it is finished."""
    job = _find(request, number)
    context = _context(job)
    if is_htmx(request):
        return progress_answer(request, job, "compare/played_progress.html", context)
    if job.result is not None:
        context |= report_context(job.result, _title(job), [*map(_settings_of, job.request.sides)])
    return render(request, "compare/played.html", context)


def stop_played(request: HttpRequest, number: str) -> HttpResponse:
    job = _find(request, number)
    jobs().request_stop(job)
    return redirect("played", job.id)


def played_json(request: HttpRequest, number: str) -> HttpResponse:
    job = _find(request, number)
    if job.result is None:
        raise Http404(gettext("There is no result yet."))
    return HttpResponse(plain_encoder.encode(job.result), content_type="application/json")


def _find(request: HttpRequest, number: str) -> PlayedJob:
    job = find_played(request, number)
    if job is None:
        raise Http404(gettext("This workload is no longer stored. Play it again."))
    return job


def _context(job: PlayedJob) -> dict[str, Any]:
    return {**progress_context(job, "played", "stop-played"), "title": _title(job)}


def _title(job: PlayedJob) -> str:
    return job.request.title or gettext("Pasted arrivals")


def _settings_of(side: RequestedSide) -> str:
    """Return what a side is, in words."""
    unnamed = gettext("default") if side.config is None else gettext("a configuration of its own")
    return gettext("%(scheduler)s, Kubernetes %(version)s, seed %(seed)s") % {
        "scheduler": form.preset_label(side) or unnamed,
        "version": side.features(),
        "seed": side.seed,
    }
