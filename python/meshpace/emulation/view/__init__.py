"""``meshpace emulate --view``: what an emulation does, shown in a browser while it does it.

The engine writes a line of JSON some times a second (``crates/emulator/src/view.rs``). :mod:`hub` keeps the latest of
them for its viewers, :mod:`server` serves them and the page (:mod:`page`) on loopback, as server-sent events.
"""
