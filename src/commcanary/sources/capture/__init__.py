"""Shards that the recorder in ``commcanary.capture`` wrote in the processes of one job -> one trace."""
