"""The bootstep that gives a Celery process its role."""

from typing import Any, ClassVar

from celery.bootsteps import StartStopStep
from celery.worker.state import maybe_shutdown
from django.conf import settings

from schedviz.processes.celery_process import CeleryProcess
from schedviz.processes.garbage import look_for_garbage_less_often
from schedviz.processes.role import ROLES, Role
from schedviz.store import Store
from schedviz.store.default import prepare_default_store
from schedviz.tracing import start_tracing


class RoleStep(StartStopStep):
    """A step of a Celery process, started before the process consumes messages, and stopped after. Each role
    has a subclass, which is included in the processes of this role only."""

    role: ClassVar[Role]

    def __init__(self, parent: Any, role: Role = ROLES[0], **options: Any) -> None:
        super().__init__(parent, **options)
        self.enabled = role == self.role

    def make_process(self, store: Store) -> CeleryProcess:
        raise NotImplementedError

    def start(self, parent: Any) -> None:
        # Celery's handlers of SIGTERM and SIGINT set a flag, which Celery reads when it consumes messages.
        # Before that, the flag must be read here.
        look_for_garbage_less_often()
        store = prepare_default_store(before_attempt=maybe_shutdown)
        self.process = self.make_process(store)
        self.process.start(parent.app)
        start_tracing(self.role, settings.OTEL_EXPORTER_OTLP_ENDPOINT)

    def stop(self, parent: Any) -> None:
        self.process.stop()

    terminate = stop
