"""MCP's own client over standard streams.

python mcp_client.py ROOT
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "app", "serve", "--mcp"],
        cwd=sys.argv[1],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        voices = (await client.call_tool("list_voices", {})).content[0].text
    print(json.dumps({"tools": tools, "voices": voices}))  # noqa: T201 - its result


asyncio.run(main())
