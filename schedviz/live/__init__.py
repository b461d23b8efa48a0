"""Live pages: frames of what changed in a sandbox or a room, to all of its viewers.

Each sandbox or room with viewers in this process has one hub (``hub.py``). It draws a frame once for each
language and look, and puts it into the slot of each viewer (``slot.py``). A page says when it has painted a
frame (``{"shown": number}``), and is sent the next one then: a slow page skips states. Clients whose address
lacks ``shown=1`` get each frame at once. Frames are numbered; a page that misses one gets the whole page.
"""
