"""The folder that ``commcanary capture`` puts on a child's PYTHONPATH; see ``sitecustomize``."""
