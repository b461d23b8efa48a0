"""The subresources of pods that reach into their containers: ``log``, ``exec``, ``attach``, ``portforward``
and ``proxy``. A simulated container runs no process, and says so.

Upstream: LogLocation in pkg/registry/core/pod/strategy.go, and the kubelet's texts.
"""

from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.api.target import Target
from schedviz.cache import read_current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest, NotFound

PROCESS_SUBRESOURCES: Final = ("exec", "attach", "portforward", "proxy")
LOG: Final = "schedviz simulates this container: it runs no process, and this is its whole log.\n"
_KINDS: Final = ("containers", "initContainers", "ephemeralContainers")


def get_log(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """Return the log of a container: one line once it has started; nothing while its pod has no node."""
    pod = _pod(sandbox, resource, target)
    container = _container(pod, request.GET.get("container", ""))
    text = ""
    if pod["spec"].get("nodeName"):
        state = _state_of_started(pod, container)
        if _is_set(request, "previous"):
            where = f'container "{container}" in pod "{target.name}"'
            raise BadRequest(f"previous terminated {where} not found")
        text = LOG
        if _is_set(request, "timestamps"):
            started = next((each["startedAt"] for each in state.values() if each.get("startedAt")), "")
            text = f"{started} {LOG}"
    return HttpResponse(text, content_type="text/plain")


def _is_set(request: HttpRequest, parameter: str) -> bool:
    return request.GET.get(parameter, "") in ("true", "1")


def refuse_process(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Refuse to run a process in a container. Raises BadRequest."""
    pod = _pod(sandbox, resource, target)
    if not pod["spec"].get("nodeName"):
        raise BadRequest(f"pod {target.name} does not have a host assigned")
    raise BadRequest(f"pod {target.name} is simulated: its containers run no process to reach")


def _pod(sandbox: Sandbox, resource: Resource, target: Target) -> Manifest:
    found = read_current(sandbox).get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    return found


def _container(pod: Manifest, asked: str) -> str:
    """Return the name of the container that is asked for; of a pod with one container, this. Raises
    BadRequest."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    names = {kind: [container["name"] for container in spec.get(kind) or ()] for kind in _KINDS}
    if asked and any(asked in known for known in names.values()):
        return asked
    if asked:
        raise BadRequest(f"container {asked} is not valid for pod {name}")
    if len(names["containers"]) == 1:
        (only,) = names["containers"]
        return str(only)
    choices = (
        f"a container name must be specified for pod {name}, choose one of: {_listed(names['containers'])}"
    )
    for kind, words in (("initContainers", "init"), ("ephemeralContainers", "ephemeral")):
        if names[kind]:
            choices += f" or one of the {words} containers: {_listed(names[kind])}"
    raise BadRequest(choices)


def _listed(names: list[str]) -> str:
    return f"[{' '.join(names)}]"


def _state_of_started(pod: Manifest, container: str) -> Manifest:
    """Return the state of a container: ``running`` or ``terminated``; empty if its status is not known.
    Raises BadRequest for a container that waits, as the kubelet does."""
    status = pod.get("status", {})
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container_status in status.get(kind) or ():
            if container_status.get("name") != container:
                continue
            state: Manifest = container_status.get("state") or {}
            if state.get("waiting") is not None:
                reason = state["waiting"].get("reason", "ContainerCreating")
                where = f'container "{container}" in pod "{pod["metadata"]["name"]}"'
                raise BadRequest(f"{where} is waiting to start: {reason}")
            return state
    return {}
