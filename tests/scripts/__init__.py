"""Tests of scripts/: each file mirrors a script, run as a process."""
