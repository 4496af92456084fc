"""Write campaign.schema.json from the types that read a campaign's configuration."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from commcanary.campaign.config import CampaignConfig


def schema() -> str:
    """The JSON Schema of a campaign's configuration, for editors."""
    document = msgspec.json.schema(CampaignConfig)
    own_list = document["$defs"]["CampaignConfig"]["properties"]["configurations"]
    document["$defs"]["CampaignConfig"]["properties"]["configurations"] = {
        "anyOf": [own_list, {"type": "string", "description": "YAML file that holds the list"}]
    }
    return json.dumps({"title": "CommCanary campaign", **document}, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("campaign.schema.json").write_text(schema())
