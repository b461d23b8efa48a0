"""Recognition of files that are no dump: what they are, and the command that makes a dump."""

import re
from typing import Final

GET_COMMAND: Final = (
    "kubectl get nodes,pods,namespaces,priorityclasses,pdb,deploy,rs,sts,ds,jobs,cronjobs,svc,pv,pvc,sc,"
    "csinodes,controllerrevisions,runtimeclasses,quota,limits -A -o json"
)
"""The command that prints the kinds that are imported and that every cluster has."""
_MESSAGES: Final = (
    rb"error: |Error from server|Unable to connect to the server|The connection to the server"
    rb"|No resources found|couldn't get |Warning: |[EWIF]\d{4} \d\d:\d\d:\d\d"
)
_KNOWN: Final = (
    (rb"(NAMESPACE\s+|LAST SEEN\s+)?(NAME|TYPE)\s{2,}[A-Z]", "a table that kubectl get prints"),
    (rb"Name: {2,}\S", "the output of kubectl describe"),
    (rb"(\x1b\[[0-9;]*m)?Kubernetes control plane", "the output of kubectl cluster-info"),
    (_MESSAGES, "a message of kubectl"),
    (rb"[a-z]+(\.[a-z0-9.]+)?/[a-z0-9.-]+\r?(\n|\Z)", "a list of names"),
    (rb"[^\n#]*[$%>] (kubectl|oc|k) ", "a copy of a terminal"),
    (rb"(```|~~~)", "a text in Markdown"),
    (rb"(?i)<(!doctype\s+html|html)\b", "a web page"),
    (rb"\(\xb5/\xfd", "a file compressed with zstd"),
    (rb"BZh[1-9]", "a file compressed with bzip2"),
    (rb"\xfd7zXZ\0", "a file compressed with xz"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (rb"(?s).{16}\xed\xda\x0c\xed", "a snapshot of etcd"),
    (rb"%PDF-", "a PDF file"),
    (rb"\x89PNG|\xff\xd8\xff", "a picture"),
)
"""Patterns of the beginning of a file, and what it is."""
_LENGTH: Final = 2000
"""The number of bytes by which a file is recognized."""


def recognize(data: bytes) -> str:
    """Return what a file is that is no dump, and the command to use; "" if it is not known."""
    start = data[:_LENGTH]
    for pattern, name in _KNOWN:
        if re.match(pattern, start) or re.match(pattern, start.lstrip()):
            return f"this is {name}; use {GET_COMMAND}"
    return ""
