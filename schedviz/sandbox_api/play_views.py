"""The views that play workloads of arrivals files, in memory."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from msgspec import UNSET

from schedviz.api import schedulers
from schedviz.jobs.comparison_job import RequestedSide
from schedviz.jobs.played_job import PlayedJob, PlayedRequest
from schedviz.sandbox_api.operations import operation
from schedviz.sandbox_api.requests import answer, workload_files
from schedviz.sandbox_api.sandbox_views import asked_features
from schedviz.sandbox_documents import PlayAnswer, PlayedSide, PlayRequest
from schedviz.web.imports import play_job
from schedviz.web.imports.take import ImportFailed
from simulator.api import SECOND, Manifest
from simulator.apiserver.status import BadRequest, NotFound
from simulator.arrivals.workload import PACE, SEED
from simulator.objects.durations import parse_duration
from simulator.versions.features import DEFAULT_FEATURES


@operation("playWorkload", "Play a workload of an arrivals file", PlayAnswer, body=PlayRequest, status=202)
def play_workload(request: HttpRequest, asked: PlayRequest) -> HttpResponse:
    """Everything is checked before anything is stored."""
    with workload_files(asked) as (arrivals, nodes):
        try:
            header = play_job.check_workload(request, arrivals, nodes)
            files = play_job.packed(arrivals), play_job.packed(nodes)
        except ImportFailed as failed:
            raise BadRequest(str(failed)) from None
    sides = [_side(each, path, header.config) for path, each in (("a", asked.a), ("b", asked.b)) if each]
    job = PlayedRequest(
        title=asked.title,
        arrivals=files[0],
        nodes=files[1],
        pace=PACE if asked.pace is UNSET else _duration("pace", asked.pace),
        sides=sides,
        duration=_duration("until", asked.until) if asked.until else 0,
    )
    return answer(_answer_of(play_job.submit(request, job, header)), 202)


@operation("readPlay", "A workload that is played, and its result", PlayAnswer)
def read_play(request: HttpRequest, number: str) -> HttpResponse:
    return answer(_answer_of(_find(request, number)))


@operation("stopPlay", "Stop a workload; what was played is kept", PlayAnswer)
def stop_play(request: HttpRequest, number: str) -> HttpResponse:
    job = _find(request, number)
    play_job.jobs().request_stop(job)
    return answer(_answer_of(job))


def _side(asked: PlayedSide, path: str, config_of_file: Manifest | None) -> RequestedSide:
    features = asked_features(asked, DEFAULT_FEATURES)
    config = config_of_file
    if asked.config is not UNSET:
        schedulers.check_configuration(asked.config, path, features)
        config = asked.config
    seed = SEED if asked.seed is UNSET else asked.seed
    return RequestedSide("", config, asked.queue, seed, features.version.patch, features.gates)


def _duration(field: str, text: str) -> int:
    try:
        found = parse_duration(text)
    except ValueError as error:
        raise BadRequest(f"{field}: {error}") from None
    if field == "until" and found < SECOND:
        raise BadRequest("until: it must be at least 1s")
    return found


def _find(request: HttpRequest, number: str) -> PlayedJob:
    job = play_job.find_played(request, number)
    if job is None:
        raise NotFound("plays", number)
    return job


def _answer_of(job: PlayedJob) -> PlayAnswer:
    figures = None if job.result is None else job.result.figures()
    page = reverse("played", args=[job.id])
    return PlayAnswer(job.id, job.state, job.done, job.trouble, job.notes, page, figures)
