"""A canary turned into what other replayers read."""
