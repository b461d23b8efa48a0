"""Uploaded files, as files of this machine."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils.translation import gettext

from schedviz.web.imports.take import ImportFailed
from simulator.dumps.dump_files import MAX_DUMP_BYTES


@contextmanager
def uploaded_file(request: HttpRequest, field: str, text_field: str) -> Iterator[Path]:
    """Context manager: write an uploaded file, or the pasted text, to a temporary file. Raises
    ImportFailed."""
    uploaded, text = request.FILES.get(field), request.POST.get(text_field, "")
    if not isinstance(uploaded, UploadedFile) and not text.strip():
        raise ImportFailed(gettext("Choose a file, or paste the text."))
    if isinstance(uploaded, UploadedFile) and (uploaded.size or 0) > MAX_DUMP_BYTES:
        mib = MAX_DUMP_BYTES >> 20
        raise ImportFailed(gettext("The file has more than %(mib)s MiB.") % {"mib": mib})
    with tempfile.NamedTemporaryFile(prefix="schedviz-upload-") as file:
        if isinstance(uploaded, UploadedFile):
            for chunk in uploaded.chunks():
                file.write(chunk)
        else:
            file.write(text.encode(errors="replace"))
        file.flush()
        yield Path(file.name)


def is_given(request: HttpRequest, field: str, text_field: str) -> bool:
    """Whether a file was uploaded, or a text pasted."""
    return field in request.FILES or bool(request.POST.get(text_field, "").strip())
