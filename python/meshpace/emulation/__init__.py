"""``meshpace emulate``: real Linux hosts on the simulated mesh.

:mod:`session` is the whole of it; :mod:`record` what is known of one while it runs, and afterwards if it was killed.
"""
