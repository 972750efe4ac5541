"""Finds, with hassil, the skill that understands a sentence on its own or as a follow-up.

Invariant: intents are tried in the order of the repertoire, verbatim ones first; the first that
answers wins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from engine.llm.base import Role
from engine.llm.skills.matching.canonical import canonical, without_courtesy_before, without_fillers
from engine.llm.skills.matching.fillings import has_several_sentences
from engine.llm.skills.matching.gist import SURE, classifier, meanings
from engine.llm.skills.matching.intent import (
    Answer,
    FollowUp,
    Intent,
    SkillContext,
    Slots,
    last_answer,
    sentence,
)
from engine.llm.skills.matching.repertoire import (
    MAX_PATTERN_CHARS,
    Repertoire,
    Templates,
    repertoire,
)

MAX_BACK = 10  # sentences that follow-ups may look back, including this one
MAX_FOLLOW_UP_WORDS = 12  # a longer sentence stands alone
_GOES_ON = re.compile(
    r"^(?:and|(?:an|end) (?:in|of)|what about|how about)\b", re.IGNORECASE
)  # never comes first
# How the built-in recogniser mishears "and in feet", "and of sixty", "and the day after".
_MISHEARD_AND = re.compile(
    r"^(?:an|end) (?=(?:in|to|of|at|for|from|how|what|next|another|tomorrow|the day) )",
    re.IGNORECASE,
)
# "No, I mean in Tokyo": what comes before a follow-up that corrects something. "Wait" only beside
# another such word: "wait five minutes" corrects nothing.
_CORRECTION = re.compile(
    r"^(?:wait[,.!]\s*|(?:no|nope|actually|sorry|rather|oh|i mean|i meant)\b[\s,.!;:]*"
    r"(?:wait\b[\s,.!;:]*)?)+(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Understanding:
    """The meaning of a sentence, the slots in it, and the answer."""

    intent: Intent
    slots: Slots
    answer: Answer


class Matcher:
    """Understands what the skills of a repertoire understand; see matcher()."""

    def __init__(self, skills: Repertoire) -> None:
        self._fits = skills.fits
        self._by_name = {intent.name: intent for intent in skills.intents}
        self._verbatim = skills.templates([each for each in skills.intents if each.verbatim])
        self._canonical = skills.templates([each for each in skills.intents if not each.verbatim])
        self._skills = skills
        self._following: dict[str, tuple[Templates[FollowUp], Templates[FollowUp]]] = {}

    def prepare(self) -> None:
        """Parse the templates and load the classifier now (0.1 s), not at the first sentence."""
        classifier()
        for templates in (self._verbatim, self._canonical):
            list(templates.matches("what"))

    def answer(self, text: str, context: SkillContext, *, certain_only: bool) -> Answer | None:
        """Return the answer of the first skill that understands the text; None if no skill does."""
        understood = self.understand(text, context, certain_only=certain_only)
        return understood.answer if understood else None

    def understand(
        self, text: str, context: SkillContext, *, certain_only: bool
    ) -> Understanding | None:
        """Return the meaning as a follow-up, or else on its own; first without "um" and such."""
        versions = dict.fromkeys((without_fillers(text), text))
        spoken = (self._interpret(each, context, certain_only) for each in versions)
        return next(filter(None, spoken), None)

    def _interpret(
        self, text: str, context: SkillContext, certain_only: bool
    ) -> Understanding | None:
        followed = self._follow(text, context, certain_only)
        if followed is None:
            return self._alone(text, context, certain_only)
        if self._fits.keys().isdisjoint(followed.slots):
            return followed
        return self._alone(text, context, certain_only=True) or followed

    def _alone(self, text: str, context: SkillContext, certain_only: bool) -> Understanding | None:
        for intent, slots in self._matches(text, context, certain_only):
            if self._fit(slots, context):
                answer = intent.respond(slots, context)
                if answer is not None:
                    return Understanding(intent, slots, answer)
        return None

    def _matches(
        self, text: str, context: SkillContext, certain_only: bool
    ) -> Iterator[tuple[Intent, Slots]]:
        """Yield certain matches of templates, then the sure meaning, then uncertain matches."""
        matches = self._verbatim.matches(without_courtesy_before(text.strip()))
        if len(text) <= MAX_PATTERN_CHARS:
            matches = chain(matches, self._canonical.matches(canonical(text)))
        uncertain = []
        for intent, slots in matches:
            if intent.certain:
                yield intent, slots
            else:
                uncertain.append((intent, slots))
        for meaning in meanings(text, context.state().voices):
            intent = self._by_name[meaning.intent]
            if meaning.probability >= SURE and (intent.certain or not certain_only):
                yield intent, meaning.slots
        if not certain_only:
            yield from uncertain

    def _follow(self, text: str, context: SkillContext, certain_only: bool) -> Understanding | None:
        """Return the text as a follow-up to sentences since the last independent one."""
        if len(text.split()) > MAX_FOLLOW_UP_WORDS:
            return None
        meant, since = self._beginning(context, certain_only)
        for each in reversed(since):
            if meant is None:
                return None
            said = without_fillers(each.history[-1].text) if each is not context else text
            now = self._as_follow_up(said, meant, each)
            if each is context:
                return now
            now = now or self._alone(said, each, certain_only)
            if now is None or not now.intent.aside:
                meant = now
        return None

    def _beginning(
        self, context: SkillContext, certain_only: bool
    ) -> tuple[Understanding | None, list[SkillContext]]:
        """Return the last earlier independent sentence, and the contexts since, newest first."""
        since = [context]
        before = context.history[:-1]
        said_at = [at for at, message in enumerate(before) if message.role is Role.USER]
        for at in said_at[:-MAX_BACK:-1]:
            earlier = replace(context, history=before[: at + 1])
            said = without_fillers(before[at].text)
            if not _GOES_ON.match(said):
                meant = self._alone(said, earlier, certain_only)
                if meant is not None and not meant.intent.aside:
                    return meant, since
            since.append(earlier)
        return None, since

    def _as_follow_up(
        self, text: str, before: Understanding, context: SkillContext
    ) -> Understanding | None:
        if len(text.split()) > MAX_FOLLOW_UP_WORDS:
            return None
        # As it was said, and then what it corrects.
        for said in dict.fromkeys((text.strip(), _CORRECTION.sub("", text.strip()))):
            for follow_up, slots in self._follow_ups(before.intent.name, said):
                asked = self._asked(follow_up, before, slots, context)
                if asked is not None:
                    return asked
        return None

    def _follow_ups(self, after: str, text: str) -> Iterator[tuple[FollowUp, Slots]]:
        """Yield the matching follow-ups of an intent, compiled when first needed."""
        if after not in self._following:
            known = [each for each in self._skills.follow_ups if after in each.after]
            self._following[after] = (
                self._skills.templates([each for each in known if each.verbatim]),
                self._skills.templates([each for each in known if not each.verbatim]),
            )
        verbatim, others = self._following[after]
        yield from verbatim.matches(text.strip(" \t\n.?!"))
        yield from others.matches(canonical(_MISHEARD_AND.sub("and ", text)))

    def _asked(
        self, follow_up: FollowUp, before: Understanding, said: Slots, context: SkillContext
    ) -> Understanding | None:
        """The answer to a follow-up; None when it does not follow that sentence."""
        answered = last_answer(context).startswith(follow_up.answered)
        if not answered or not self._fit(said, context):
            return None
        intent = self._by_name[follow_up.asks] if follow_up.asks else before.intent
        slots = follow_up.combine(before.slots, said, context)
        answer = intent.respond(slots, context) if slots is not None else None
        return None if slots is None or answer is None else Understanding(intent, slots, answer)

    def _fit(self, slots: Slots, context: SkillContext) -> bool:
        """Return whether every open slot has an allowed filling, and nothing follows it."""
        free = [name for name in slots if name in self._fits]
        several = bool(free) and has_several_sentences(without_fillers(sentence(context)))
        return not several and all(self._fits[name](slots[name]) for name in free)


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    """The matcher of the built-in skills, made at the first call."""
    return Matcher(repertoire())
