"""Tests of tanbo_engine; each file mirrors a module."""
