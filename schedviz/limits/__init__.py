"""Limits: what one sandbox, one owner, one address and all together may use at a time.

Requests, watches, websockets and connections are counted by each web process by itself, all else in Redis for
all processes together.
"""
