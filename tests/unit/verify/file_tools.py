"""Tools that read and write files, as claims about paths are proved of them."""

from policy.catalog import Resource
from tests.unit.verify.proving import tool

TEXT = {"type": "string"}
READ = tool("read", {"path": TEXT}, Resource(verb="reads", steps=("path",), tree=False))
COPY = tool(
    "copy",
    {"source": TEXT, "target": TEXT},
    Resource(verb="reads", steps=("source",), tree=False),
    Resource(verb="writes", steps=("target",), tree=False),
)
