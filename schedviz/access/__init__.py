"""The rights of visitors on sandboxes.

``rights.py``: the rights. ``record.py``: what is stored of a sandbox, its owner and its links; ``links.py``
changes it. ``identity.py``: the cookie by which an owner is known. ``visitor.py``: the visitor of a request.
``policy.py``: the right that each URL needs. ``standing.py``: whether those who watch a sandbox may go on.
"""
