"""Rooms: a teacher and up to a hundred learners in the same lesson, each in a sandbox.

A room is found by its code. There are no accounts: the teacher and each learner hold an unguessable token, of
which Redis has the hash. This package stores rooms, decides who may open which sandbox, and computes what the
teacher sees; ``web`` shows it.
"""
