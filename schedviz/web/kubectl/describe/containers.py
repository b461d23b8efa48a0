"""The containers of a pod, as kubectl describe prints them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from schedviz.web.kubectl.describe.fields import NONE, date, requirements
from schedviz.web.kubectl.describe.writer import Writer
from simulator.api import Manifest
from simulator.objects import quantity

IN_PATHS: Final = "$&+,/:;=@"
"""The characters besides letters, digits, and ``-_.~`` that Go does not escape in the path of a URL."""
IN_HOSTS: Final = "!$&'()*+,;=:[]<>\""
"""Those that it does not escape in the host."""
NODE_LIMITS: Final = ("limits.cpu", "limits.memory")
"""Limits that are those of the node where the container has none."""


def write_containers(
    to: Writer, title: str, containers: Sequence[Manifest], statuses: Sequence[Manifest] | None, pod: Manifest
) -> None:
    """Write containers with their statuses (describeContainers)."""
    known = {status.get("name"): status for status in statuses or ()}
    to.line(0, f"{title}:{'' if containers else f' {NONE}'}")
    for container in containers:
        status = known.get(container["name"])
        _write_image_and_ports(to, container, status)
        for field in ("command", "args"):
            _write_words(to, field.capitalize(), container.get(field) or ())
        if status is not None:
            _write_status(to, status)
        requirements(to, 2, container.get("resources"))
        for field, name in (
            ("livenessProbe", "Liveness"),
            ("readinessProbe", "Readiness"),
            ("startupProbe", "Startup"),
        ):
            if container.get(field) is not None:
                to.line(2, f"{name}:\t{probe(container[field])}")
        _write_sources(to, container.get("envFrom") or ())
        _write_environment(to, container, pod)
        _write_mounts(to, container)


def _write_image_and_ports(to: Writer, container: Manifest, status: Manifest | None) -> None:
    to.line(1, f"{container['name']}:")
    if status is not None:
        to.line(2, f"Container ID:\t{status.get('containerID', '')}")
    to.line(2, f"Image:\t{container.get('image', '')}")
    if status is not None:
        to.line(2, f"Image ID:\t{status.get('imageID', '')}")
    for title, field in (("Port", "containerPort"), ("Host Port", "hostPort")):
        ports = ", ".join(_port(each, field) for each in container.get("ports") or ())
        to.line(2, f"{title}{'s' if ',' in ports else ''}:\t{ports or NONE}")
    profile = (container.get("securityContext") or {}).get("seccompProfile")
    if profile:
        to.line(2, f"SeccompProfile:\t{profile['type']}")
        if profile["type"] == "Localhost":
            to.line(3, f"LocalhostProfile:\t{profile.get('localhostProfile', '')}")


def _port(port: Manifest, field: str) -> str:
    text = f"{port.get(field, 0)}/{port.get('protocol', 'TCP')}"
    return f"{text} ({port['name']})" if port.get("name") else text


def _write_words(to: Writer, title: str, words: Sequence[str]) -> None:
    if words:
        to.line(2, f"{title}:")
    for word in words:
        for line in word.split("\n"):
            to.line(3, line)


def _write_status(to: Writer, status: Manifest) -> None:
    _write_state(to, "State", status.get("state") or {})
    if (status.get("lastState") or {}).get("terminated") is not None:
        _write_state(to, "Last State", status["lastState"])
    to.line(2, f"Ready:\t{bool(status.get('ready'))}")
    to.line(2, f"Restart Count:\t{status.get('restartCount', 0)}")


def _write_state(to: Writer, title: str, state: Mapping[str, Manifest | None]) -> None:
    running, waiting, terminated = (state.get(kind) for kind in ("running", "waiting", "terminated"))
    if running is not None:
        to.line(2, f"{title}:\tRunning")
        to.line(3, f"Started:\t{date(running.get('startedAt'))}")
    elif terminated is not None and waiting is None:
        to.line(2, f"{title}:\tTerminated")
        for field in ("reason", "message"):
            if terminated.get(field):
                to.line(3, f"{field.capitalize()}:\t{terminated[field]}")
        to.line(3, f"Exit Code:\t{terminated.get('exitCode', 0)}")
        if terminated.get("signal", 0) > 0:
            to.line(3, f"Signal:\t{terminated['signal']}")
        to.line(3, f"Started:\t{date(terminated.get('startedAt'))}")
        to.line(3, f"Finished:\t{date(terminated.get('finishedAt'))}")
    else:
        to.line(2, f"{title}:\tWaiting")
        if waiting and waiting.get("reason"):
            to.line(3, f"Reason:\t{waiting['reason']}")


def probe(found: Manifest) -> str:
    """Return a probe on one line (DescribeProbe)."""
    figures = [
        ("delay", found.get("initialDelaySeconds", 0), "s"),
        ("timeout", found.get("timeoutSeconds", 0), "s"),
        ("period", found.get("periodSeconds", 0), "s"),
        ("#success", found.get("successThreshold", 0), ""),
        ("#failure", found.get("failureThreshold", 0), ""),
    ]
    return f"{_handler(found)} {' '.join(f'{name}={number}{unit}' for name, number, unit in figures)}"


def _handler(found: Manifest) -> str:
    if found.get("exec") is not None:
        return f"exec {go_list(found['exec'].get('command') or ())}"
    if (get := found.get("httpGet")) is not None:
        host = get.get("host", "")
        host = f"[{host}]" if ":" in host else host
        path = get.get("path", "")
        path = f"/{path}" if path and not path.startswith("/") else path
        address = quote(f"{host}:{get['port']}", IN_HOSTS) + quote(path, IN_PATHS)
        return f"http-get {get.get('scheme', 'HTTP').lower()}://{address}"
    if (socket := found.get("tcpSocket")) is not None:
        return f"tcp-socket {socket.get('host', '')}:{socket['port']}"
    if (call := found.get("grpc")) is not None:
        return f"grpc <pod>:{call['port']} {call.get('service') or ''}"
    return "unknown"


def go_list(words: Sequence[Any]) -> str:
    """Return a list as Go prints it: ``[a b]``."""
    return f"[{' '.join(str(word) for word in words)}]"


def _write_sources(to: Writer, sources: Sequence[Manifest]) -> None:
    """Write the ConfigMaps and Secrets whose keys become variables."""
    if sources:
        to.line(2, "Environment Variables from:")
    for source in sources:
        kind, of = "", None
        for field, name in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if of is None and source.get(field) is not None:
                kind, of = name, source[field]
        of = of or {}
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        to.line(3, f"{of.get('name', '')}\t{kind}{prefix}\tOptional: {go_bool(of.get('optional'))}")


def go_bool(value: object) -> str:
    return "true" if value else "false"


def _write_environment(to: Writer, container: Manifest, pod: Manifest) -> None:
    variables = container.get("env") or ()
    to.line(2, f"Environment:{'' if variables else f'{chr(9)}{NONE}'}")
    for variable in variables:
        name, source = variable["name"], variable.get("valueFrom")
        if source is None:
            first, *more = (variable.get("value") or "").split("\n")
            to.line(3, f"{name}:\t{first}")
            for line in more:
                to.line(3, f"\t{line}")
        elif (field := source.get("fieldRef")) is not None:
            path = field["fieldPath"]
            to.line(3, f"{name}:\t{_field_value(pod, path)} ({field.get('apiVersion', 'v1')}:{path})")
        elif (amount := source.get("resourceFieldRef")) is not None:
            to.line(3, f"{name}:\t{_resource_value(container, amount)} ({amount['resource']})")
        else:
            for ref, kind in (("secretKeyRef", "in secret"), ("configMapKeyRef", "of config map")):
                if (key := source.get(ref)) is not None:
                    where = f"<set to the key '{key['key']}' {kind} '{key.get('name', '')}'>"
                    to.line(3, f"{name}:\t{where}\tOptional: {go_bool(key.get('optional'))}")
                    break


def _field_value(pod: Manifest, path: str) -> str:
    """Return the value of a field of the pod; "" for all but the two that kubectl knows."""
    known = ("metadata.name", "metadata.namespace")
    return str(pod["metadata"].get(path.partition(".")[2], "")) if path in known else ""


def _resource_value(container: Manifest, field: Manifest) -> str:
    """Return the amount of a request or limit, in units of the divisor and rounded up
    (ExtractContainerResourceValue)."""
    kind, _, name = field["resource"].partition(".")
    if name not in ("cpu", "memory", "ephemeral-storage") and not name.startswith("hugepages-"):
        return ""
    amounts = (container.get("resources") or {}).get(kind) or {}
    in_units = quantity.milli_value if name == "cpu" else quantity.value
    divisor = quantity.parse_quantity(field.get("divisor") or "0") or quantity.NANO
    amount = math.ceil(in_units(quantity.parse_quantity(amounts.get(name, "0"))) / in_units(divisor))
    return "node allocatable" if amount == 0 and field["resource"] in NODE_LIMITS else str(amount)


def _write_mounts(to: Writer, container: Manifest) -> None:
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    none = "" if mounts else f"\t{NONE}"
    to.line(2, f"Mounts:{none}")
    for mount in sorted(mounts, key=lambda each: each["mountPath"]):
        flags = ["ro" if mount.get("readOnly") else "rw"]
        if mount.get("subPath"):
            flags.append(f"path={go_quoted(mount['subPath'])}")
        to.line(3, f"{mount['mountPath']} from {mount['name']} ({','.join(flags)})")
    if devices:
        # kubectl says of the devices whether there are mounts.
        to.line(2, f"Devices:{none}")
    for device in sorted(devices, key=lambda each: each["devicePath"]):
        to.line(3, f"{device['devicePath']} from {device['name']}")


def go_quoted(text: str) -> str:
    """Return a text in double quotes, as Go's ``%q`` does."""
    escaped = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return f'"{"".join(escaped.get(letter, letter) for letter in text)}"'
