"""Imports a dump of a cluster or a recording: shows a report, or creates a sandbox."""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.limits.requester import new_record
from schedviz.routes import shares_of
from schedviz.store.connected_mirrors import ConnectedMirrors
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.answers import is_htmx, panel, redirected
from schedviz.web.imports import report as view
from schedviz.web.imports import take as imports
from schedviz.web.imports.uploads import uploaded_file
from schedviz.web.limits import text_of, with_time
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import find_sandbox
from simulator.apiserver.status import StatusError
from simulator.dumps.documents import MAX_YAML_BYTES
from simulator.dumps.dump_files import MAX_DUMP_BYTES
from simulator.dumps.recognition import GET_COMMAND
from simulator.versions.kubernetes_version import VERSIONS


def import_cluster(request: HttpRequest) -> HttpResponse:
    """Render the import page. Fields: ``dump``, a file, or ``text``, the pasted dump; ``name`` of the new
    sandbox; ``kubernetes``, its version, "" = that of the nodes' kubelets. ``do`` = "look" only shows the
    report."""
    if request.method != "POST":
        return _page(request)
    look = request.POST.get("do") == "look"
    try:
        with (
            uploaded_file(request, "dump", "text") as dump,
            imports.read_dump(dump, shares_of(request)) as cluster,
        ):
            if look:
                return _page(request, report=view.present_import(cluster.report))
            name, access = request.POST.get("name", "").strip(), new_record(request)
            sandbox = imports.create_from_dump(
                default_store(), cluster, name, access, request.POST.get("kubernetes", "")
            )
    except imports.ImportFailed as failed:
        return _page(request, error=str(failed))
    except LimitExceeded as full:
        return with_time(_page(request, error=text_of(full.limit, full.retry_after_seconds)), full)
    except StatusError as refused:
        return _page(request, error=explain_refusal(refused))
    except ValueError as wrong:
        return _page(request, error=explain_refusal(wrong))
    return redirected(request, reverse("imported", args=[sandbox.name]))


def import_report(request: HttpRequest, name: str) -> HttpResponse:
    sandbox = find_sandbox(name)
    imported = sandbox.meta().imported
    if imported is None:
        raise Http404(gettext("“%(name)s” was not created by an import.") % {"name": name})
    context = {"report": view.present_import(imported), "subject": gettext("Import report")}
    return panel(request, sandbox, "imports/imported.html", context)


def _page(request: HttpRequest, report: view.ImportView | None = None, error: str = "") -> HttpResponse:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    context = {
        "report": report,
        "error": error,
        "name": request.POST.get("name", ""),
        "text": request.POST.get("text", ""),
        "mib": MAX_DUMP_BYTES >> 20,
        "command": GET_COMMAND,
        "versions": VERSIONS,
        "oldest": VERSIONS[-1].name,
        "newest": VERSIONS[0].name,
        "kubernetes": request.POST.get("kubernetes", ""),
        "connects": ConnectedMirrors(default_store().redis).offered() is not None,
        "yaml_mib": MAX_YAML_BYTES >> 20,
    }
    if is_htmx(request):
        # Status 200, because browsers log every status from 400 on as an error.
        return render(request, "imports/outcome.html", context)
    return render(request, "imports/page.html", context, status=status)
