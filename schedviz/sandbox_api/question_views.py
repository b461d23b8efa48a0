"""The views that ask questions about the whole cluster of a sandbox."""

from django.http import HttpRequest, HttpResponse

from schedviz.cache import find_handle, read_current
from schedviz.jobs.asked_job import ASKED, AskedJob
from schedviz.jobs.job_store import JobStore
from schedviz.routes import shares_of
from schedviz.sandbox_api.operations import operation
from schedviz.sandbox_api.requests import answer
from schedviz.sandbox_documents import ClusterAnswer, ClusterQuestion
from schedviz.store.default import default_store
from simulator.apiserver.resources import NODES
from simulator.apiserver.status import BadRequest, NotFound
from simulator.questions.answer import BadQuestion
from simulator.questions.fields import QuestionFields, parameters_of


@operation("askCluster", "Ask about the whole cluster", ClusterAnswer, body=ClusterQuestion, status=202)
def ask_cluster(request: HttpRequest, asked: ClusterQuestion, name: str) -> HttpResponse:
    source = read_current(find_handle(name))
    fields = QuestionFields(**{field: getattr(asked, field) for field in QuestionFields.__struct_fields__})
    if fields.question != "evictions":
        nodes = {node["metadata"]["name"]: node for node in source.list(NODES.id).items}
        try:
            parameters_of(fields, nodes)
        except BadQuestion as wrong:
            raise BadRequest(str(wrong)) from None
    job = AskedJob(sandbox=name, fields=fields, time=source.now())
    return answer(_answer_of(_jobs().submit(job, shares_of(request))), 202)


@operation("readClusterQuestion", "A question about the cluster, and its answer", ClusterAnswer)
def read_cluster_question(request: HttpRequest, name: str, number: str) -> HttpResponse:
    return answer(_answer_of(_find(name, number)))


@operation("stopClusterQuestion", "Stop a question; what was found is kept", ClusterAnswer)
def stop_cluster_question(request: HttpRequest, name: str, number: str) -> HttpResponse:
    job = _find(name, number)
    _jobs().request_stop(job)
    return answer(_answer_of(job))


def _jobs() -> JobStore[AskedJob]:
    return JobStore(default_store(), ASKED)


def _find(name: str, number: str) -> AskedJob:
    job = _jobs().read(number)
    if job is None or job.sandbox != name:
        raise NotFound("questions", number)
    return job


def _answer_of(job: AskedJob) -> ClusterAnswer:
    return ClusterAnswer(job.id, job.state, job.done, job.trouble, job.result)
