"""The schema beside the configurations is the one of the types, and accepts what is shipped."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "config" / "schemas"


def test_it_is_what_the_types_say() -> None:
    spec = importlib.util.spec_from_file_location("make", SCHEMAS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (SCHEMAS / "campaign.schema.json").read_text() == module.schema()


def test_it_accepts_the_demo_campaign_and_no_unknown_key() -> None:
    schema = json.loads((SCHEMAS / "campaign.schema.json").read_text())
    demo = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    jsonschema.validate(demo, schema)
    wrong = jsonschema.Draft202012Validator(schema).iter_errors({**demo, "titel": "x"})
    assert ["titel" in error.message for error in wrong] == [True]
