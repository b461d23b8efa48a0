"""The views that list, create, branch and delete sandboxes, and create their objects."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from msgspec import UNSET
from msgspec.structs import asdict, replace

from schedviz import bundled_scenarios
from schedviz.access.account import account_of
from schedviz.access.asker import asker_of
from schedviz.access.rights import Right
from schedviz.access.visitor import find_visitor
from schedviz.api import schedulers, write
from schedviz.api.branch import branch_of_moment, branch_of_now, names_at
from schedviz.api.from_scenario import create
from schedviz.api.new_sandbox import numbered
from schedviz.api.refused import NotPermitted
from schedviz.limits.pools import IMPORTS
from schedviz.limits.requester import new_record, requester_of
from schedviz.rooms.room import is_reserved
from schedviz.sandbox_api.describe import describe, summary_of
from schedviz.sandbox_api.operations import operation
from schedviz.sandbox_api.requests import answer, read_manifests, workload_files
from schedviz.sandbox_documents import (
    BranchRequest,
    CreatedSandbox,
    CreateRequest,
    ObjectList,
    ObjectsRequest,
    PlayedSide,
    SandboxAnswer,
    SandboxList,
    ScenarioList,
    ScenarioSummary,
)
from schedviz.store import Gone, Sandbox
from schedviz.store.default import default_store
from schedviz.store.past import Past
from schedviz.web.home.cards import visible_summaries
from schedviz.web.imports.take import ImportFailed
from schedviz.web.imports.workload import (
    PAUSED,
    PLAYED,
    SPEEDS,
    create_from_workload,
    read_workload,
)
from simulator.apiserver.request_errors import Expired
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.status import BadRequest
from simulator.arrivals.workload import unfit_warning
from simulator.objects.durations import parse_duration
from simulator.scenario import Scenario
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import Features, chosen_features
from simulator.versions.kubernetes_version import UnknownVersion


@operation("listScenarios", "The bundled scenarios", ScenarioList, can_fail=False)
def list_scenarios(request: HttpRequest) -> HttpResponse:
    found = bundled_scenarios.scenarios().values()
    return answer(ScenarioList([ScenarioSummary(each.name, each.title, each.summary) for each in found]))


@operation("listSandboxes", "The sandboxes that you may see", SandboxList)
def list_sandboxes(request: HttpRequest) -> HttpResponse:
    """Return the sandboxes that the home page lists for the visitor, newest first."""
    visitor = find_visitor(request.COOKIES, request.headers.get("Authorization", ""), account_of(request))
    found = visible_summaries(default_store(), visitor, [NODES.id, PODS.id])
    return answer(SandboxList([summary_of(each, right) for each, right in found]))


@operation(
    "createSandbox",
    "Create a sandbox: empty, from a scenario, from manifests, from arrivals",
    CreatedSandbox,
    body=CreateRequest,
    status=201,
)
def create_sandbox(request: HttpRequest, asked: CreateRequest) -> HttpResponse:
    """Create a sandbox. Its creator owns it."""
    check_name(asked.name)
    if asked.arrivals or asked.arrivals_base64:
        return answer(_created(*_create_from_arrivals(request, asked)), 201)
    made = asked_scenario(asked)
    names = [asked.name] if asked.name else numbered(default_store(), made.name)
    try:
        sandbox = create(
            default_store(),
            made,
            asked.scenario,
            names,
            stands_down=asked.stands_down,
            paused=asked.paused,
            access=new_record(request),
        )
    except ValueError as error:
        raise BadRequest(f"name: {error}") from None
    return answer(_created(sandbox), 201)


def _created(sandbox: Sandbox, notes: Sequence[str] = ()) -> CreatedSandbox:
    return CreatedSandbox(**asdict(describe(sandbox, Right.OWN)), notes=[*notes])


def _create_from_arrivals(request: HttpRequest, asked: CreateRequest) -> tuple[Sandbox, list[str]]:
    """Return the sandbox, and what of the arrivals is not played, or fits no node."""
    if asked.scenario or asked.manifests:
        raise BadRequest("arrivals: not with scenario and manifests; nodes may have further objects")
    made = _with_settings(asked, PLAYED)
    shares = IMPORTS.shares(requester_of(request))
    try:
        with (
            workload_files(asked) as (arrivals, nodes),
            read_workload(default_store(), arrivals, nodes, shares, made) as read,
        ):
            header = read.header
            warning = unfit_warning(header.pods, header.unfit_pods, header.unfit)
            if warning and not asked.anyway:
                raise BadRequest(f"arrivals: {warning}; give anyway to create it nevertheless")
            sandbox = create_from_workload(
                default_store(),
                read,
                asked.name,
                PAUSED if asked.paused else SPEEDS[0],
                new_record(request),
                made=made,
                stands_down=asked.stands_down,
            )
            return sandbox, header.lines()
    except ImportFailed as failed:
        raise BadRequest(str(failed)) from None
    except ValueError as error:
        raise BadRequest(f"name: {error}") from None


def asked_scenario(asked: CreateRequest) -> Scenario:
    """Return the scenario that a request names or contains. Raises StatusError."""
    known = bundled_scenarios.scenarios()
    if asked.scenario and asked.scenario not in known:
        raise BadRequest(f"scenario: there is no {asked.scenario[:63]!r}; those are {', '.join(known)}")
    if asked.nodes or asked.nodes_base64:
        raise BadRequest("nodes: only with arrivals")
    made = _with_settings(asked, known[asked.scenario] if asked.scenario else bundled_scenarios.EMPTY)
    given = read_manifests(asked.manifests)
    # The manifests may be those of a scenario that the server does not know.
    return bundled_scenarios.with_manifests(made, given, keeps_class=not given)


def _with_settings(asked: CreateRequest, made: Scenario) -> Scenario:
    """Return a scenario with the settings of a request. Raises StatusError."""
    made = replace(made, features=asked_features(asked, made.features))
    if asked.config is not UNSET:
        schedulers.check_configuration(asked.config, asked.name or made.name, made.features)
        made = replace(made, config=asked.config)
    if asked.pace is not UNSET:
        try:
            made = replace(made, pace=parse_duration(asked.pace))
        except ValueError as error:
            raise BadRequest(f"pace: {error}") from None
    return replace(
        made,
        title=asked.title or made.title,
        seed=made.seed if asked.seed is UNSET else asked.seed,
        queue=made.queue if asked.queue is UNSET else asked.queue,
    )


def asked_features(asked: CreateRequest | PlayedSide, usual: Features) -> Features:
    """Return the version with the gates that a request names, or the usual ones. Raises StatusError."""
    try:
        return chosen_features(usual, asked.kubernetes, asked.feature_gates)
    except UnknownVersion as unknown:
        raise BadRequest(f"kubernetes: {unknown}") from None
    except FeatureGateError as wrong:
        raise BadRequest(f"feature_gates: {wrong}") from None


def check_name(name: str) -> None:
    """Raise NotPermitted for a name that only a room may give."""
    if name and is_reserved(name):
        raise NotPermitted(f"name: only a room may have a sandbox {name!r}")


@operation("readSandbox", "A sandbox with its clock", SandboxAnswer)
def read_sandbox(request: HttpRequest, name: str) -> HttpResponse:
    return answer(describe(default_store().sandbox(name), asker_of(request).right))


@operation("deleteSandbox", "Delete a sandbox", status=204)
def delete_sandbox(request: HttpRequest, name: str) -> HttpResponse:
    default_store().delete(name)
    return HttpResponse(status=204)


@operation(
    "branchSandbox",
    "Create a branch, as the sandbox is now or was at a past moment",
    SandboxAnswer,
    body=BranchRequest,
    status=201,
)
def branch_sandbox(request: HttpRequest, asked: BranchRequest, name: str) -> HttpResponse:
    """Create a branch, which belongs to the visitor."""
    check_name(asked.name)
    store, access = default_store(), new_record(request)
    sandbox = store.sandbox(name)
    names = [asked.name] if asked.name else None
    try:
        if asked.at is None:
            made = branch_of_now(store, sandbox, [], access=access, names=names)
        else:
            past = find_moment(sandbox, asked.at)
            made = branch_of_moment(store, past, asked.name or next(names_at(store, name, asked.at)), access)
    except ValueError as error:
        raise BadRequest(f"name: {error}") from None
    return answer(describe(made, Right.OWN), 201)


def find_moment(sandbox: Sandbox, at: int) -> Past:
    """Return the moment of a trace event. Raises Expired."""
    try:
        return Past(sandbox, at)
    except Gone:
        reach = sandbox.history().reach()
        known = f"; the stored ones are {reach.first.seq} to {reach.last.seq}" if reach else ""
        raise Expired(f"at: the moment of trace event {at} is not stored{known}") from None


@operation(
    "createObjects",
    "Create the objects of manifests, all of them or none",
    ObjectList,
    body=ObjectsRequest,
    status=201,
)
def create_objects(request: HttpRequest, asked: ObjectsRequest, name: str) -> HttpResponse:
    sandbox = default_store().sandbox(name)
    return answer(ObjectList(write.create(sandbox, read_manifests(asked.manifests))), 201)
