"""Built-in skills: rules that answer without a model, and the same as tools for one."""

from engine.llm.skills.matching.corpus import sentences
from engine.llm.skills.model import Skills

__all__ = ["Skills", "sentences"]
