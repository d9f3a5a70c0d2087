"""Which version this is, and the name under which it is installed: nginx/dist/stamp writes those of a release."""

VERSION = "1.0.0"
DISTRIBUTION = "urlmode"
