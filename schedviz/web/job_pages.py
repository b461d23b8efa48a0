"""What the pages of long jobs share: the progress, which htmx asks for until the job is finished."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from schedviz.jobs.job import LongJob


def progress_context(job: LongJob, page: str, stop: str, *args: str) -> dict[str, Any]:
    """Return the values of the template ``parts/job_progress.html``. page, stop: the names of the routes of
    the page and of its stop, which have these arguments and then the id of the job."""
    return {
        "job": job,
        "percent": int(job.done * 100),
        "job_url": reverse(page, args=[*args, job.id]),
        "stop_url": reverse(stop, args=[*args, job.id]),
    }


def progress_answer(
    request: HttpRequest, job: LongJob, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Return for htmx the progress of a job, or what reloads the page when the job is finished."""
    return HttpResponseClientRefresh() if job.finished else render(request, template, context)
