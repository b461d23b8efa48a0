"""Lessons: data that leads a learner through the scheduler, one step at a time, beside a live sandbox.

A lesson is a folder (docs/LESSONS.md). This package reads and checks lessons, evaluates their checks on a
sandbox, and stores the progress of each learner. ``web`` shows them.
"""
