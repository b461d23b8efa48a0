"""The parts that Celery processes of all roles share: the role, heartbeats, a queue of their own, and the
check that they take messages. A program outside starts a process again when it ends:
``manage.py up``, or the container engine."""
