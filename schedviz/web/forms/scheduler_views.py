"""The form of the scheduler's configuration."""

from collections.abc import Mapping
from itertools import islice

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.api import schedulers
from schedviz.cache import Current
from schedviz.web.answers import done, is_htmx
from schedviz.web.forms.all_faults import Fault, faults_of, find_all_faults
from schedviz.web.forms.conflict import differences
from schedviz.web.forms.editor import Editor, Switch, is_step, posted_by, rebased
from schedviz.web.forms.form_and_yaml import FormAndYaml, parse_or_none
from schedviz.web.forms.gates import (
    POD_GROUPS_OFF,
    POD_GROUPS_ON,
    GatesView,
    has_pod_groups,
    posted_gates,
    present_gates,
)
from schedviz.web.forms.scheduler import SchedulerForm, with_profile
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.reasons.faults import explain_cause
from schedviz.web.sources import find_present
from simulator.api import Manifest
from simulator.apiserver.status import StatusError
from simulator.versions.feature_gates import GENERIC_WORKLOAD
from simulator.versions.features import Features

SWITCHES = ("stand-down", "take-over")
"""The values of ``do`` that leave the pods to outside schedulers, or take them back."""

GATES = ("gates", POD_GROUPS_ON, POD_GROUPS_OFF)
"""The values of ``do`` that change the feature gates."""

FIELDS_AT_MOST = 20
"""Maximum number of changed fields that the trace event of a new configuration contains."""


def edit_scheduler(request: HttpRequest, name: str) -> HttpResponse:
    """Render the form of the configuration. POST applies it, and the scheduler starts again with it; with
    ``do`` = "step" it is only validated, with "add-profile" the form gets one more profile. "stand-down" and
    "take-over" change nothing but whether outside schedulers bind the pods, those of GATES only the gates."""
    source, posted = find_present(name), posted_by(request)
    if posted is not None and posted.get("do") in SWITCHES:
        schedulers.switch_scheduler(source.sandbox, stands_down=posted["do"] == "stand-down")
        return done(request, source)
    features = source.meta().features()
    gates = present_gates(features)
    if posted is not None and posted.get("do") in GATES:
        refused = set_gates(source, posted_gates(posted, features.gates))
        if refused is None:
            return done(request, source)
        if is_htmx(request):
            return render(request, "forms/gates.html", {"gates": refused}, status=422)
        gates, posted = refused, None
    theirs = configuration(source)
    start = parse_or_none((posted or {}).get("original", "")) or theirs
    both = FormAndYaml(SchedulerForm, source, start, posted)
    editor = Editor(
        both,
        SchedulerForm.title,
        gettext("Apply"),
        reverse("scheduler", args=[name]),
        hint=gettext(
            "Apply restarts the scheduler with this configuration. Bound pods stay on their nodes, and "
            "the queue is rebuilt."
        ),
        original=to_yaml([start]),
        add=gettext("Add a profile"),
        switches=[
            stand_down_switch(stands_down=source.meta().stands_down),
            pod_groups_switch(source.meta().features()),
        ],
        gates=gates,
    )
    if posted is None or both.manifest is None:
        return editor.respond(request, source)
    if posted.get("do") == "add-profile":
        text = to_yaml([with_profile(both.manifest)])
        editor.both = FormAndYaml(SchedulerForm, source, start, {"yaml": text})
        return editor.respond(request, source)
    if not is_step(request) and both.valid and theirs != start:
        return rebased(request, source, editor, start, theirs)
    fields = [each.field for each in islice(differences(start, None, both.manifest), FIELDS_AT_MOST)]
    faults = list[Fault]()
    if both.valid and not is_step(request):
        try:
            schedulers.configure(source.sandbox, both.manifest, fields, dry_run=not fields)
        except StatusError as error:
            faults = faults_of(error)
        else:
            return done(request, source)

    def check(manifests: list[Manifest]) -> None:
        schedulers.configure(source.sandbox, manifests[0], fields, dry_run=True)

    both.add_faults(find_all_faults([both.manifest], check) or faults)
    return editor.respond(request, source)


def set_gates(source: Current, gates: Mapping[str, bool]) -> GatesView | None:
    """Set the feature gates of a sandbox; those that it has already change nothing. Return the view of gates
    that are refused; None = they are set."""
    meta = source.meta()
    before = meta.features().gates
    fields = [*islice(schedulers.changed_gates(before, gates), FIELDS_AT_MOST)]
    try:
        if fields:
            schedulers.configure(source.sandbox, meta.config, fields, feature_gates=gates)
    except StatusError as refused:
        error = " ".join(explain_cause(fault.cause).text for fault in faults_of(refused))
        return present_gates(meta.features(), gates, error)
    return None


def stand_down_switch(*, stands_down: bool) -> Switch:
    if stands_down:
        text = gettext("The scheduler stands down: pods wait for an outside scheduler.")
        return Switch("stand-down", text, gettext("Schedule again"), "take-over")
    text = gettext("An outside scheduler can bind all pods instead, through the API.")
    return Switch("stand-down", text, gettext("Stand down"), "stand-down")


def pod_groups_switch(features: Features) -> Switch:
    """Return the switch of the gates of pod groups."""
    if not has_pod_groups(features.version):
        return Switch("pod-groups", gettext("PodGroups need Kubernetes v1.36."))
    if features.enabled(GENERIC_WORKLOAD):
        text = gettext("Pods of a PodGroup are scheduled together.")
        return Switch("pod-groups", text, gettext("Switch PodGroups off"), POD_GROUPS_OFF)
    text = gettext("Pods of a PodGroup can be scheduled together: all that are needed, or none (alpha).")
    return Switch("pod-groups", text, gettext("Switch PodGroups on"), POD_GROUPS_ON)


def configuration(sandbox: Current) -> Manifest:
    """Return the stored configuration, with the form's initial values for missing fields."""
    return SchedulerForm.start(sandbox) | (sandbox.meta().config or {})
