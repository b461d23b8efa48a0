"""The panel of a pod group, now or at a past moment."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from schedviz.web.answers import missing_object, panel, unfolded
from schedviz.web.pod_groups.follow_up import group_follow_up
from schedviz.web.pod_groups.panel import group_detail
from schedviz.web.sources import address, find_at, find_present


def group_panel(
    request: HttpRequest, name: str, namespace: str, group: str, seq: int | None = None
) -> HttpResponse:
    sandbox, key = find_at(name, seq), f"{namespace}/{group}"
    view = group_detail(sandbox, key, address(sandbox), unfolded(request))
    if view is None:
        return missing_object(request, sandbox, "PodGroup", key)
    context: dict[str, Any] = {"view": view, "subject": f"PodGroup {view.name}"}
    if seq is None:
        context["follow_up"] = group_follow_up(find_present(name), view)
    return panel(request, sandbox, "pod_groups/group.html", context)
