"""Creates objects from forms and from pasted YAML, through :mod:`schedviz.api.write`."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.api import write
from schedviz.cache import Current
from schedviz.store import Sandbox
from schedviz.web.act import QUERY, Act, write_act
from schedviz.web.answers import done, form_page
from schedviz.web.forms import FORMS, ManifestForm
from schedviz.web.forms.all_faults import Fault, faults_of, find_all_faults
from schedviz.web.forms.editor import Editor, is_step, posted_by
from schedviz.web.forms.form_and_yaml import FormAndYaml, explain_faults, plain, with_positions
from schedviz.web.forms.unit_mistakes import find_unit_mistakes
from schedviz.web.kubectl import lines
from schedviz.web.reasons.faults import Explanation
from schedviz.web.reasons.yaml_faults import explain_text
from schedviz.web.sources import find_present, find_sandbox
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.apiserver.status import StatusError


def form_of(kind: str) -> type[ManifestForm]:
    try:
        return FORMS[kind]
    except KeyError:
        raise Http404 from None


def new_object(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """Render the form that creates objects. The query may set fields. POST with ``do`` = "step" only
    synchronizes form and YAML, and validates them by a dry run. With ``act`` in the query, the page has
    proposed the pod, and creating it is the visitor's act."""
    source, form = find_present(name), form_of(kind)
    posted, step = posted_by(request), is_step(request)
    asked = {field: str(request.GET[field]) for field in request.GET}
    both = FormAndYaml(form, source, form.start(source), asked if posted is None else posted)
    is_act = kind == "pod" and QUERY in request.GET
    action = reverse("new", args=[name, kind]) + (f"?{QUERY}=1" if is_act else "")
    editor = Editor(both, form.title, gettext("Create"), action)
    if is_act:
        editor.hint = gettext("The fields are filled in. You only need to press Create.")
    if both.manifest is not None:
        made = both.form.manifests(both.manifest)
        editor.shell = lines.create(made)
        faults = list[Fault]()
        if posted is not None and both.valid and not step:
            try:
                created = write.create(source.sandbox, made)
            except StatusError as error:
                faults = faults_of(error)
            else:
                response = done(request, source, kubectl=editor.shell)
                if is_act and created[0]["kind"] == "Pod":
                    write_act(response, act_of(source, created[0]), reverse("sandbox", args=[name]))
                return response
        if posted is not None:
            faults = find_all_faults(made[:1], dry_run_of(source.sandbox)) or faults
        both.add_faults(faults)
    return editor.respond(request, source)


def dry_run_of(sandbox: Sandbox) -> Callable[[list[Manifest]], object]:
    return lambda manifests: write.create(sandbox, manifests, dry_run=True)


def act_of(source: Current, pod: Manifest) -> Act:
    """Return the act of the visitor who created the pod. source: the sandbox before."""
    metadata = pod["metadata"]
    key = f"{metadata['namespace']}/{metadata['name']}"
    return Act(source.meta().created, key, metadata["uid"], source.trace_head())


def paste_yaml(request: HttpRequest, name: str) -> HttpResponse:
    """Create objects from one or more YAML documents; all are stored, or none."""
    sandbox = find_sandbox(name)
    text, status = plain(request.POST.get("yaml", "")), 200
    errors, mistakes, found = list[Explanation](), list[str](), list[Manifest]()
    if request.method == "POST":
        status = 422
        try:
            found = parse_manifests(text)
            if not found:
                raise ManifestError("no document")
            mistakes = [*with_positions(text, map(find_unit_mistakes, found))]
            anyway = request.POST.get("do") == "anyway" or not mistakes
            write.create(sandbox, found, dry_run=not anyway)
            if anyway:
                return done(request, sandbox, kubectl=lines.create(found))
        except ManifestError as error:
            errors = [explain_text(error)]
        except StatusError as error:
            errors = explain_faults(text, find_all_faults(found, dry_run_of(sandbox)) or faults_of(error))
    context = {"text": text, "errors": errors, "mistakes": mistakes}
    return form_page(request, sandbox, "forms/paste.html", context, status)
