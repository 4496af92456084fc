"""Tests on a real Slurm."""
