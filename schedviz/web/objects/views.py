"""The panels of all stored objects: the list of kinds, the list of a kind, one object; edit and delete."""

import copy

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.api import removal, write
from schedviz.api.stored_resource import find_stored
from schedviz.store import Sandbox
from schedviz.store.past import Readable
from schedviz.web.answers import done, missing_object, panel
from schedviz.web.devices.claim_panel import claim_panel
from schedviz.web.forms import form_for
from schedviz.web.forms.all_faults import faults_of, find_all_faults
from schedviz.web.forms.editor import Editor, is_step, posted_by, rebased
from schedviz.web.forms.form_and_yaml import FormAndYaml, parse_or_none
from schedviz.web.kubectl import lines
from schedviz.web.manifests.paths import mapping
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.objects import lists as view
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import Source, address, find_at, find_present
from simulator.api import Manifest
from simulator.apiserver.admission import SERVER_FIELDS
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES as NODES_RESOURCE
from simulator.apiserver.status import Conflict, StatusError

SAVES_AT_MOST = 5
"""Maximum number of attempts to save an object whose status a component writes at the same time."""


def kinds(request: HttpRequest, name: str, seq: int | None = None) -> HttpResponse:
    """Render the list of kinds. Query: ``name``, a part of an object's name."""
    source = find_at(name, seq)
    part = name_part(request)
    size = view.present_size(source.sandbox) if seq is None else None
    context = {
        "kinds": view.kinds(source, part),
        "part": part,
        "size": size,
        "subject": gettext("All objects"),
    }
    return panel(request, source, "objects/kinds.html", context)


def objects(request: HttpRequest, name: str, resource: str, seq: int | None = None) -> HttpResponse:
    """Render the list of a kind. Query: ``name``, a part of an object's name; ``after``, the last key of the
    previous page."""
    source = find_at(name, seq)
    kind = find_kind(source, resource)
    after = request.GET.get("after", "")
    shown = view.objects(source, kind, name_part(request), after)
    return panel(request, source, "objects/objects.html", {"view": shown, "subject": kind.kind})


def name_part(request: HttpRequest) -> str:
    return request.GET.get("name", "").strip()[: view.PART_AT_MOST]


def show(request: HttpRequest, name: str, resource: str, key: str, seq: int | None = None) -> HttpResponse:
    source = find_at(name, seq)
    match resource, key.split("/"):
        case "pods", [namespace, pod] if namespace and pod:
            return redirect(f"{address(source)}pods/{namespace}/{pod}/")
        case "nodes", [node]:
            return redirect(f"{address(source)}nodes/{node}/")
    return show_object(request, source, find_kind(source, resource), key)


def show_object(
    request: HttpRequest, sandbox: Source, kind: Resource, key: str, error: str = ""
) -> HttpResponse:
    manifest = sandbox.get(kind.id, key)
    if manifest is None:
        return missing_object(request, sandbox, kind.kind, key)
    shells = {"shell": lines.of_object(kind, key, manifest)}
    context = {"kind": kind, "key": key, "yaml": to_yaml([manifest]), "view": shells, "error": error}
    context["claim"] = claim_panel(sandbox, kind.id, manifest)
    context["subject"] = f"{kind.kind} {key}"
    return panel(request, sandbox, "objects/object.html", context, 422 if error else 200)


def delete(request: HttpRequest, name: str, resource: str, key: str) -> HttpResponse:
    """Delete an object, as kubectl delete."""
    source = find_present(name)
    kind = find_kind(source, resource)
    try:
        removal.delete(source.sandbox, kind.id, key)
    except StatusError as error:
        return show_object(request, find_present(name), kind, key, explain_refusal(error))
    return done(request, source, "schedviz:gone", lines.object_command("delete", kind, key))


def edit(request: HttpRequest, name: str, resource: str, key: str) -> HttpResponse:
    """Edit an object, as kubectl edit, with fields for the kinds that have a form. If another client changed
    it meanwhile, both changes are merged and shown, and the user must save again."""
    source = find_present(name)
    kind = find_kind(source, resource)
    stored = source.get(kind.id, key)
    posted = posted_by(request)
    if stored is None and posted is None:
        raise Http404(gettext("There is no %(kind)s %(name)s.") % {"kind": kind.kind, "name": key})
    start = parse_or_none((posted or {}).get("original", "")) or editable(kind, stored or {})
    both = FormAndYaml(form_for(kind.kind), source, start, posted, exists=True)
    title = gettext("Edit %(kind)s %(key)s") % {"kind": kind.kind, "key": key.removeprefix("default/")}
    editor = Editor(
        both, title, gettext("Save"), reverse("edit", args=[name, kind.id, key]), original=to_yaml([start])
    )
    if both.manifest is not None:
        editor.shell = lines.create([both.manifest])
    if posted is None or both.manifest is None:
        return editor.respond(request, source)

    def check(manifests: list[Manifest]) -> None:
        save(source.sandbox, kind, key, manifests[0], dry_run=True)

    if is_step(request) or not both.valid:
        both.add_faults(find_all_faults([both.manifest], check, [start]))
        return editor.respond(request, source)
    try:
        save_unless_changed(source.sandbox, kind, key, start, both.manifest)
    except ChangedMeanwhile as error:
        return rebased(request, source, editor, start, error.theirs)
    except StatusError as error:
        both.add_faults(find_all_faults([both.manifest], check, [start]) or faults_of(error))
        return editor.respond(request, source)
    return done(request, source, kubectl=editor.shell)


class ChangedMeanwhile(Exception):
    """Another client changed the object. ``theirs``: the object as it is now."""

    def __init__(self, theirs: Manifest) -> None:
        super().__init__()
        self.theirs = theirs


def save_unless_changed(
    sandbox: Sandbox, kind: Resource, key: str, start: Manifest, manifest: Manifest
) -> None:
    """Save the manifest that was made from ``start``. Raises ChangedMeanwhile if the editable part of the
    object differs from ``start`` by now, and StatusError. Writes of components to the other fields, such as
    the status, do not count."""
    for attempt in range(SAVES_AT_MOST):
        now = sandbox.get(kind.id, key)
        if now is not None and editable(kind, now) != start:
            raise ChangedMeanwhile(editable(kind, now))
        try:
            save(sandbox, kind, key, manifest, version=now["metadata"]["resourceVersion"] if now else "")
        except Conflict:
            if attempt == SAVES_AT_MOST - 1:
                raise
        else:
            return


def editable(kind: Resource, manifest: Manifest) -> Manifest:
    """Return the part of an object that users write: without the fields of the server and the controllers.
    For a Node this includes the capacity and allocatable of its status."""
    shown = copy.deepcopy(manifest)
    for field in (*SERVER_FIELDS, "generateName"):
        shown.get("metadata", {}).pop(field, None)
    if kind == NODES_RESOURCE:
        status = shown.get("status", {})
        shown["status"] = {field: status[field] for field in ("capacity", "allocatable") if field in status}
    elif kind.has_status:
        shown.pop("status", None)
    return shown


def save(
    sandbox: Sandbox,
    kind: Resource,
    key: str,
    manifest: Manifest,
    *,
    version: str = "",
    dry_run: bool = False,
) -> None:
    """Replace the object, if it has this resourceVersion ("" = any)."""

    def whole(old: Manifest) -> Manifest:
        wanted = {**manifest, "metadata": {**mapping(manifest.get("metadata")), "resourceVersion": version}}
        if kind == NODES_RESOURCE:
            wanted["status"] = {**old.get("status", {}), **mapping(manifest.get("status"))}
        return wanted

    write.edit(sandbox, kind.id, key, whole, dry_run=dry_run, whole=kind == NODES_RESOURCE)


def find_kind(sandbox: Readable, resource: str) -> Resource:
    """Return the resource ``<plural>.<group>``. Raises Http404."""
    found = find_stored(sandbox, resource)
    if found is None:
        raise Http404(gettext("There is no resource “%(resource)s”.") % {"resource": resource[:80]})
    return found
