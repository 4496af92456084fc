"""Tables of nccl-tests, as text logs of any layout or as JSON reports."""
