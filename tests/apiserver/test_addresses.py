"""IPAddresses and ServiceCIDRs are validated as by kube-apiserver."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.field_checks import NO_CIDR
from simulator.apiserver.resources import find_by_kind
from tests.apiserver.cluster import Cluster, refusal

VERSION = "networking.k8s.io/v1"
OTHER = 'Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"x"}'
WEB = {"resource": "services", "namespace": "default", "name": "web"}
PAIR = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def address(name: str, parent: Any = WEB) -> Manifest:
    return {
        "apiVersion": VERSION,
        "kind": "IPAddress",
        "metadata": {"name": name},
        "spec": {} if parent is None else {"parentRef": parent},
    }


def service_cidr(*cidrs: str) -> Manifest:
    return {
        "apiVersion": VERSION,
        "kind": "ServiceCIDR",
        "metadata": {"name": "c"},
        "spec": {"cidrs": [*cidrs]},
    }


def faults(manifest: Manifest) -> list[str]:
    error = refusal(lambda: Cluster().admit([manifest]))
    return [str(cause) for cause in error.causes] if error else []


@pytest.mark.parametrize("name", ["10.0.0.1", "fd00::1", "2001:db8::a:0:1"])
def test_the_name_of_an_address_is_the_address(name: str) -> None:
    assert faults(address(name)) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("web", 'ParseAddr("web"): unable to parse IP'),
        ("10.0.0.01", 'ParseAddr("10.0.0.01"): IPv4 field has octet with leading zero'),
        ("10.0.0.256", 'ParseAddr("10.0.0.256"): IPv4 field has value >255'),
        ("10.0.1", 'ParseAddr("10.0.1"): IPv4 address too short'),
        ("FD00::1", "must be a canonical format IP address"),
        ("fd00:0::1", "must be a canonical format IP address"),
    ],
)
def test_another_name_is_refused(name: str, fault: str) -> None:
    assert faults(address(name)) == [f'metadata.name: Invalid value: "{name}": {fault}']


@pytest.mark.parametrize(
    ("parent", "found"),
    [
        (None, ["spec.parentRef: Required value"]),
        (
            {"group": "a.io"},
            ["spec.parentRef.resource: Required value", "spec.parentRef.name: Required value"],
        ),
        (
            {**WEB, "name": "a/b"},
            ["spec.parentRef.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
    ],
)
def test_an_address_belongs_to_something(parent: Any, found: list[str]) -> None:
    assert faults(address("10.0.0.1", parent)) == found


@pytest.mark.parametrize(
    ("cidrs", "fault"),
    [
        (["10.0.0.0/8"], ""),
        (["10.0.0.0/8", "fd00::/64"], ""),
        ([], ": Required value: at least one CIDR required"),
        (["10.0.0.0/8", "11.0.0.0/8"], f': Invalid value: {{"CIDRs":["10.0.0.0/8","11.0.0.0/8"]}}: {PAIR}'),
        (["a", "b", "c"], ': Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values'),
        (["a"], f'[0]: Invalid value: "a": {NO_CIDR}'),
    ],
)
def test_a_range_is_one_of_each_family(cidrs: list[str], fault: str) -> None:
    assert faults(service_cidr(*cidrs)) == ([f"spec.cidrs{fault}"] if fault else [])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (service_cidr("10.0.0.0/8"), service_cidr("10.0.0.0/8", "fd00::/64"), ""),
        (
            service_cidr("10.0.0.0/8"),
            service_cidr("11.0.0.0/8"),
            'spec.cidrs[0]: Invalid value: "11.0.0.0/8"',
        ),
        (
            service_cidr("10.0.0.0/8", "fd00::/64"),
            service_cidr("10.0.0.0/8"),
            'spec.cidrs: Invalid value: ["10.0.0.0/8"]',
        ),
        (address("10.0.0.1"), address("10.0.0.1", {**WEB, "name": "x"}), f"spec.parentRef: {OTHER}"),
    ],
)
def test_what_may_change(old: Manifest, new: Manifest, fault: str) -> None:
    cluster = Cluster()
    (stored,) = cluster.create([old])
    resource = find_by_kind(VERSION, old["kind"])
    assert resource
    error = refusal(lambda: cluster.update(resource, stored, {**stored, "spec": new["spec"]}))
    found = [str(cause) for cause in error.causes] if error else []
    assert found == ([f"{fault}: field is immutable"] if fault else [])
