"""Tool calls written into the text, in the format that Hermes introduced and Qwen and others
follow: <tool_call>{"name": "tell_time", "arguments": {}}</tool_call>.

Invariant: a call that cannot be parsed is still a call, with its text as arguments; the toolbox
tells the model what was wrong with it.
"""

import json

from engine.llm.tools import tags
from engine.llm.tools.rounds import Piece
from engine.llm.tools.toolbox import ToolCall


def tool_call(piece: tags.Piece) -> Piece:
    """Text and thoughts unchanged, a tag's body as the call it contains."""
    if not isinstance(piece, tags.Tagged):
        return piece
    try:
        call = json.loads(piece.body)
        name, arguments = str(call["name"]), call.get("arguments", {})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ToolCall("call", "", piece.body)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall("call", name, text)
