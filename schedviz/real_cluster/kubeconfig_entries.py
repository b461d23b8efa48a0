"""The cluster and the user that a context of a kubeconfig names, and what is wrong with their fields.

The official client checks little, and what it says names no field, or quotes the file with its credentials.
"""

import os
import re
import ssl
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.kube_config import ConfigNode

AUTHORITY, CERTIFICATE, KEY = "certificate-authority", "client-certificate", "client-key"
MISSING_FILE: Final = re.compile(r"File does not exist: (.*)", re.DOTALL)
MISSING_FIELD: Final = "Invalid kube-config file. Expected key "
"""The beginning of the client's words, which contain the whole entry."""


class Entry(NamedTuple):
    path: str
    fields: Mapping[str, Any]

    def path_of(self, field: str) -> str:
        """Return the path of a field, or of that with the data in place of the file."""
        return f"{self.path}.{f'{field}-data' if f'{field}-data' in self.fields else field}"


class Entries(NamedTuple):
    context: Entry
    cluster: Entry
    user: Entry
    """One without fields where the context names none."""


def find_entries(config: ConfigNode, context: str) -> Entries:
    """Raises ConfigException."""
    found = Entry(f"contexts[{context}].context", _find(config, "context", context) or {})
    cluster, user = (found.fields.get(kind) or "" for kind in ("cluster", "user"))
    if not cluster:
        raise ConfigException(f"{found.path}.cluster is missing")
    entries = {}
    for kind, name in (("cluster", cluster), ("user", user)):
        fields = _find(config, kind, name) if name else {}
        if fields is None:  # in the words of client-go (validateContext in tools/clientcmd/validation.go)
            raise ConfigException(f'{kind} "{name}" was not found for context "{context}"')
        entries[kind] = Entry(f"{kind}s[{name}].{kind}", fields)
    made = Entries(found, entries["cluster"], entries["user"])
    for entry, field in ((made.cluster, AUTHORITY), (made.user, CERTIFICATE), (made.user, KEY)):
        _check_base64(entry, f"{field}-data")
    return made


def _find(config: ConfigNode, kind: str, name: str) -> Mapping[str, Any] | None:
    named = config[f"{kind}s"].get_with_name(name, safe=True) if config.safe_get(f"{kind}s") else None
    if named is None:
        return None
    fields = named.value.get(kind) or {}
    if not isinstance(fields, Mapping):
        raise ConfigException(f"{kind}s[{name}].{kind}: not a mapping")
    return fields


def _check_base64(entry: Entry, field: str) -> None:
    value = entry.fields.get(field)
    if value is None:
        return
    try:
        b64decode("".join(value.split()), validate=True)
    except (ValueError, AttributeError):
        raise ConfigException(f"{entry.path}.{field}: not base64") from None


def check_certificates(configuration: Configuration, entries: Entries) -> None:
    """Raises ConfigException for certificates and keys that OpenSSL cannot read."""
    if configuration.ssl_ca_cert:
        _check_certificate(configuration.ssl_ca_cert, entries.cluster.path_of(AUTHORITY))
    certificate, key = configuration.cert_file, configuration.key_file
    if not certificate:
        return
    by_plugin = not any(field.startswith(CERTIFICATE) for field in entries.user.fields)
    path, of_key = (
        f"{entries.user.path}.exec" if by_plugin else entries.user.path_of(field)
        for field in (CERTIFICATE, KEY)
    )
    _check_certificate(certificate, path)
    if not key:
        raise ConfigException(f"{of_key} is missing")
    try:
        # Without a password that is asked for on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as failure:
        what = "no private key in PEM without a password"
        if getattr(failure, "reason", "") == "KEY_VALUES_MISMATCH":
            what = "not the key of the certificate"
        raise ConfigException(f"{of_key}: {what}") from None


def _check_certificate(file: str, path: str) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError:
        raise ConfigException(f"{path}: no certificate in PEM") from None


def say_fault(text: str, entries: Entries) -> str:
    """Return what the client says of a fault, with the path of the field, and without what it quotes."""
    if missing := MISSING_FILE.fullmatch(text):
        file = missing[1]
        for entry in (entries.cluster, entries.user):
            for field, value in entry.fields.items():
                if isinstance(value, str) and file.endswith(os.path.normpath(value)):
                    return f"{entry.path}.{field}: no such file: {file}"
    if text.startswith(MISSING_FIELD):
        field, _, place = text.removeprefix(MISSING_FIELD).partition(" in ")
        below = [field]
        for part in reversed(place.split("/")):  # the first parts are the path of the file
            if part in Entries._fields:
                path: str = getattr(entries, part).path
                return f"{'.'.join([path, *below])} is missing"
            below.insert(0, part)
    quoted, last = text.find("{"), text.rfind("}")
    return f"{text[:quoted]}...{text[last + 1 :]}" if 0 <= quoted < last else text
