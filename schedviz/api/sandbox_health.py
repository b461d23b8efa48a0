"""The health of a sandbox: ``/healthz``, ``/livez`` and ``/readyz``, and their checks, as of an API server.

A sandbox whose record can be read has passed all checks; where the store does not answer, the caller answers
503. Upstream: apiserver/pkg/server/healthz/healthz.go.
"""

from typing import Final

from django.http import HttpRequest, HttpResponse

from simulator.apiserver.request_errors import NoSuchGroup

_ALWAYS: Final = ("ping", "log", "etcd")
CHECKS: Final = {
    "healthz": _ALWAYS,
    "livez": _ALWAYS,
    "readyz": (*_ALWAYS, "etcd-readiness", "informer-sync", "shutdown"),
}
"""Endpoint -> its checks: those of kube-apiserver that a sandbox has something for."""


def respond(request: HttpRequest, endpoint: str, check: str) -> HttpResponse:
    """Return the health of a sandbox. check: "" = all of the endpoint. Raises NoSuchGroup for an unknown
    one."""
    if check and check not in CHECKS[endpoint]:
        raise NoSuchGroup()
    text = _lines(request, endpoint) if "verbose" in request.GET and not check else "ok"
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _lines(request: HttpRequest, endpoint: str) -> str:
    excluded = {*request.GET.getlist("exclude")}
    lines = [
        f"[+]{check} excluded: ok" if check in excluded else f"[+]{check} ok" for check in CHECKS[endpoint]
    ]
    if unknown := sorted(excluded - {*CHECKS[endpoint]}):
        names = ",".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
    return "\n".join([*lines, f"{endpoint} check passed", ""])
