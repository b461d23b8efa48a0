"""The URLs of the API for sandboxes."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.limits.counts import COMPARISON, CREATION, QUESTION
from schedviz.routes import EDIT, OWN, PUBLIC, VIEW, ApiRoute
from schedviz.sandbox_api import (
    clock_views,
    openapi,
    play_views,
    question_views,
    reading_views,
    sandbox_views,
)
from schedviz.sandbox_api.operations import ByMethod, operation


@operation("readOpenApi", "This document", dict[str, Any], can_fail=False)
def read_openapi(request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi.document(tuple(urlpatterns)), content_type=body.JSON)


_ONE: Final = "api/sandboxes/<str:name>"
_POD: Final = f"{_ONE}/pods/<str:namespace>/<str:pod>"

urlpatterns: Final = [
    ApiRoute("api/openapi.json", ByMethod(get=read_openapi), "sandbox-openapi", read=PUBLIC),
    ApiRoute("api/scenarios", ByMethod(get=sandbox_views.list_scenarios), "sandbox-scenarios", read=PUBLIC),
    ApiRoute(
        "api/played",
        ByMethod(post=play_views.play_workload),
        "played-workloads",
        write=PUBLIC,
        changes=False,
        counts=COMPARISON,
    ),
    ApiRoute(
        "api/played/<slug:number>",
        # They are found only by those who asked.
        ByMethod(get=play_views.read_play, delete=play_views.stop_play),
        "one-played-workload",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
    ),
    ApiRoute(
        "api/sandboxes",
        # It lists those that the visitor may see.
        ByMethod(get=sandbox_views.list_sandboxes, post=sandbox_views.create_sandbox),
        "sandboxes",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=CREATION,
    ),
    ApiRoute(
        _ONE,
        ByMethod(get=sandbox_views.read_sandbox, delete=sandbox_views.delete_sandbox),
        "one-sandbox",
        read=VIEW,
        write=OWN,
        changes=True,
    ),
    ApiRoute(
        f"{_ONE}/branches",
        ByMethod(post=sandbox_views.branch_sandbox),
        "sandbox-branches",
        write=VIEW,
        changes=False,
        counts=CREATION,
    ),
    ApiRoute(
        f"{_ONE}/objects",
        ByMethod(post=sandbox_views.create_objects),
        "sandbox-objects",
        write=EDIT,
        changes=True,
    ),
    ApiRoute(f"{_ONE}/pause", ByMethod(post=clock_views.pause), "sandbox-pause", write=EDIT, changes=True),
    ApiRoute(f"{_ONE}/resume", ByMethod(post=clock_views.resume), "sandbox-resume", write=EDIT, changes=True),
    ApiRoute(
        f"{_ONE}/speed", ByMethod(post=clock_views.set_speed), "sandbox-speed", write=EDIT, changes=True
    ),
    ApiRoute(f"{_ONE}/step", ByMethod(post=clock_views.step), "sandbox-step", write=EDIT, changes=True),
    ApiRoute(f"{_ONE}/run", ByMethod(post=clock_views.run), "sandbox-run", write=EDIT, changes=True),
    ApiRoute(f"{_ONE}/trace", ByMethod(get=reading_views.read_trace), "sandbox-trace", read=VIEW),
    ApiRoute(
        f"{_ONE}/questions",
        ByMethod(post=question_views.ask_cluster),
        "sandbox-questions",
        write=VIEW,
        changes=False,
        counts=COMPARISON,
    ),
    ApiRoute(
        f"{_ONE}/questions/<slug:number>",
        ByMethod(get=question_views.read_cluster_question, delete=question_views.stop_cluster_question),
        "sandbox-one-question",
        read=VIEW,
        write=VIEW,
        changes=False,
    ),
    ApiRoute(f"{_POD}/explanation", ByMethod(get=reading_views.explain), "sandbox-explanation", read=VIEW),
    ApiRoute(
        f"{_POD}/question",
        ByMethod(get=reading_views.read_question, post=reading_views.ask_question),
        "sandbox-question",
        read=VIEW,
        write=VIEW,
        changes=False,
        counts=QUESTION,
    ),
    ApiRoute(
        f"{_POD}/preventions",
        ByMethod(get=reading_views.read_preventions, post=reading_views.ask_preventions),
        "sandbox-preventions",
        read=VIEW,
        write=VIEW,
        changes=False,
        counts=QUESTION,
    ),
]
