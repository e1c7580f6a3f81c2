"""The outside of the engine: GTP codec, commands, sessions, server and command line.

Imports `tanbo_engine`, never the reverse (DESIGN.md section 2).
"""
