"""The work of one run of a controller whose pods are dear to admit."""

from simulator.kernel.work import RUN_WORK, limit_work
from tests.apiserver.test_admission_policies import binding, policy
from tests.simulator.controllers.workloads import workload
from tests.simulator.lab import Lab, node

NUMBERS = f"[{', '.join(map(str, range(30)))}]"
PLENTY = 1_000 * RUN_WORK


def test_a_burst_of_pods_that_are_dear_to_admit_is_divided_over_runs() -> None:
    """Before, one run evaluated the policies for all pods, whatever that took."""
    lab = Lab()
    lab.create(node("n0"))
    lab.create(policy(f"{NUMBERS}.all(a, {NUMBERS}.all(b, a >= 0))"), binding())
    lab.run(1)
    lab.create(workload("Deployment", replicas=150))
    most = 0
    with limit_work(PLENTY) as work:
        for _ in range(2_000):
            before = work.left
            if lab.simulation.step(lab.now):
                lab.collect()
            elif len(lab.api.objects.get("pods", {})) == 150:
                break
            else:
                lab.now = max(lab.now, lab.simulation.next_due() or 0)
            most = max(most, before - work.left)
    assert len(lab.api.objects["pods"]) == 150
    assert PLENTY - work.left > RUN_WORK
    # What is admitted before the limit is admitted again, alone.
    assert most < 2.1 * RUN_WORK
