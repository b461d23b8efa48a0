"""The report on a played workload."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

ARRIVALS = "time,name,cpu,duration,count\n0,a,2,10s,4\n3,b,9,,1\n"
NODES = "name,cpu,memory,count\nnode,4,16Gi,1\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "trace.csv").write_text(ARRIVALS)
    (tmp_path / "nodes.csv").write_text(NODES)
    return [str(tmp_path / "trace.csv"), "--nodes", str(tmp_path / "nodes.csv"), "--until", "40s"]


@pytest.mark.parametrize("further", [[], ["--kubernetes-b", "v1.34"]])
def test_a_report_is_one_file_with_a_picture_of_each_metric(
    files: list[str], further: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "out.html"
    with pytest.raises(SystemExit) as ended:
        call_command("play", *files, *further, "--report", str(path))
    assert ended.value.code == 0
    report = path.read_text()
    titles = re.findall(r"<h3>(.+?)</h3>", report)
    assert {"Pods pending", "Pods pending: Insufficient cpu", "Requested of memory"} <= {*titles}
    assert {"Free, but of no use to pods that wait", "Time to bind: share of the pods"} <= {*titles}
    assert report.count('class="plot"') == len(titles)
    assert report.count('<path class="line b" d="M42') == (len(titles) if further else 0)
    assert not re.search(r"(src|href)=|url\(|@import|<script", report)
    assert ("B \u2212 A" in report) == bool(further)


def test_a_report_into_no_folder_is_refused_before_the_workload_is_played(files: list[str]) -> None:
    with pytest.raises(CommandError, match="there is no folder"):
        call_command("play", *files, "--report", "/nowhere/out.html")
