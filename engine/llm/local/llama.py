"""A GGUF model in this process, through llama-cpp-python (an optional extra).

Invariant: between two yields at most one token or one slice of the prompt is computed, so closing
the reply stops the work there. The evaluated prompt stays in the cache for the next turn, and the
known part of the next prompt can be evaluated before the user asks. A new file is first tried in
another process (trial.py), because llama.cpp aborts its process on a bad one.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import psutil

from engine.characters import join_surrogates
from engine.errors import LanguageModelError, ModelError
from engine.llm.base import (
    Deltas,
    GetState,
    LanguageModelInfo,
    Message,
    Remark,
    Role,
    last_language,
)
from engine.llm.history import ChatMessage, chat_messages, trimmed, without_calls, without_system
from engine.llm.local import trial
from engine.llm.local.gguf import checked_file, family_prompt, load_watched, no_library
from engine.llm.skills import Skills
from engine.llm.tools import rounds
from engine.llm.tools.rounds import Pieces
from engine.llm.tools.tags import TagSplitter
from engine.llm.tools.toolbox import ToolSchema, parsed_arguments, schemas
from engine.settings import LanguageModelSettings
from engine.translatable import Progress, Translatable

if TYPE_CHECKING:
    from llama_cpp import Llama
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

MIN_CONTEXT_TOKENS = 256  # with less, not even the system prompt and a question fit
REPLY_TOKENS = 512  # kept free for the reply when the history is trimmed; about three minutes
MAX_REPLY_TOKENS = 2048  # stops a model that does not stop by itself

# The prompt is evaluated in slices, because evaluation cannot be cancelled. On a CPU a slice of 64
# takes a second or two at worst; a GPU needs bigger ones to be busy.
CPU_SLICE_TOKENS = 64
GPU_SLICE_TOKENS = 512
# For work ahead of a question the CPU must be free again sooner: after a quarter of a second.
WARM_SLICE_TOKENS = 16
# Two possible questions; the common beginning of their prompts is that of every prompt.
PROBES = ("x", "?")

# Input and output of a trial: characters of every kind, because a vocabulary may lack some.
TRIAL_TEXT = "".join(map(chr, range(32, 127))) + "\n\t\u00e4\u20ac\u4e2d\u0434\U0001f600"
TRIAL_PROMPT_TOKENS = 64
TRIAL_REPLY_TOKENS = 4

# Models whose template writes this read and write tool calls in Hermes' format (Qwen, SmolLM,
# Hermes and others); for all others the skills answer by themselves, see rounds.py.
TOOL_MARK = "<tool_call>"


class LlamaModel:
    """A LanguageModel over one loaded GGUF file."""

    def __init__(
        self, llama: "Llama", name: str, settings: LanguageModelSettings, skills: Skills
    ) -> None:
        self._llama = llama
        self._name = name
        self._settings = settings
        self._skills = skills
        self._tools: Sequence[ToolSchema] | None = None  # of this completion; None = the skills'
        self._template, self._formatter = _chat_format(llama, name)
        self._by_family = False  # the last prompt is the family's, not the template's
        architecture = llama.metadata.get("general.architecture", "")
        trained = llama.metadata.get(f"{architecture}.context_length", "")  # may not be there
        most = int(trained) if trained.isdecimal() else 0
        self._budget = min(llama.n_ctx(), most or llama.n_ctx())

    @property
    def info(self) -> LanguageModelInfo:
        return LanguageModelInfo("llama", self._name)

    def reply(self, history: Sequence[Message], state: GetState) -> Deltas:
        prompt = self._settings.system_prompt
        return rounds.reply(self.complete, self._skills, prompt, history, state)

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Evaluate the common beginning of all prompts after this history."""
        self._tools = None
        prompts = [self._tokenized(self._next_prompt(history, probe)) for probe in PROBES]
        prefix = prompts[0][: _common_prefix(*prompts)]
        llama = self._llama
        if _common_prefix(llama.input_ids[: llama.n_tokens].tolist(), prefix) == len(prefix):
            return
        with self._failures():
            for _ in self._evaluate(prefix, WARM_SLICE_TOKENS):
                yield

    def try_out(self) -> None:
        """Run a short conversation once. Raises LanguageModelError, or crashes this process."""
        tokens = self._tokenized(self._next_prompt((), TRIAL_TEXT))[:TRIAL_PROMPT_TOKENS]
        with self._failures():
            self._llama.detokenize(list(range(self._llama.n_vocab())), special=True)
            for _ in self._evaluate(tokens, self._llama.n_batch):
                pass
            for _ in islice(self._sample(tokens), TRIAL_REPLY_TOKENS):
                pass

    def adjust(self, settings: LanguageModelSettings) -> None:
        self._settings = settings

    def close(self) -> None:
        self._llama.close()

    def _next_prompt(self, history: Sequence[Message], question: str) -> str:
        messages = [*history, Message(Role.USER, question, language=last_language(history))]
        return self._prompt(self._fitting(chat_messages(messages, self._settings.system_prompt)))

    def _fitting(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        room = self._budget - min(REPLY_TOKENS, self._budget // 2)

        def fits(tail: list[ChatMessage]) -> bool:
            return len(self._tokenized(self._prompt(tail))) <= room

        try:
            return trimmed(messages, fits)
        except LanguageModelError:
            self._tools = ()  # of this completion: perhaps the question fits without them
            return trimmed(messages, fits)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Convert the errors of llama.cpp."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            raise LanguageModelError(
                "The language model {name} failed: {error}.",
                hint="Ask again.",
                name=self._name,
                error=error,
            ) from error

    def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema] | None = None
    ) -> Pieces:
        """One completion. `tools` None: the skills'. Raises LanguageModelError."""
        self._tools = tools
        prompt = self._prompt(self._fitting(messages))
        if self._by_family:
            yield Remark(
                Translatable(
                    "The chat template of {name} failed, so the usual one of its kind is used.",
                    name=self._name,
                )
            )
        splitter = TagSplitter(thinking=prompt.rstrip().endswith("<think>"))
        with self._failures():
            tokens = self._tokenized(prompt)
            yield from self._evaluate(tokens, self._llama.n_batch)
            for text in self._sample(tokens):
                if splitter.over:
                    break
                # Text that is held back or only thought: still a chance for the caller to stop.
                yield from [*splitter.feed(text)] or [""]
            yield from splitter.flush()

    def _evaluate(self, tokens: list[int], size: int) -> Iterator[str]:
        """Bring the cache to exactly this prompt, `size` tokens at a time."""
        llama = self._llama
        warm = _common_prefix(llama.input_ids[: llama.n_tokens].tolist(), tokens)
        if warm < llama.n_tokens:
            # generate() knows how to drop the rest of the cache, also for models that cannot.
            with closing(llama.generate(tokens[: warm + size], temp=0.0)) as first:
                next(first)
            yield ""
        while llama.n_tokens < len(tokens):
            llama.eval(tokens[llama.n_tokens : llama.n_tokens + size])
            yield ""

    def _sample(self, tokens: list[int]) -> Iterator[str]:
        chunks: Any = self._llama.create_completion(
            prompt=tokens,
            stream=True,
            max_tokens=min(MAX_REPLY_TOKENS, self._budget - len(tokens)),
            temperature=self._settings.temperature,
        )
        with closing(chunks):
            for chunk in chunks:
                yield chunk["choices"][0]["text"]

    def _tokenized(self, prompt: str) -> list[int]:
        # Most templates write the beginning-of-text token themselves; tokenize() adds it only for
        # models that want one, and a second one would spoil the reply.
        bos = _token_text(self._llama, self._llama.token_bos())
        missing = not (bos and prompt.startswith(bos))
        encoded = join_surrogates(prompt).encode()
        return list(self._llama.tokenize(encoded, add_bos=missing, special=True))

    def _prompt(self, messages: list[ChatMessage]) -> str:
        """Return the prompt of the first form of the messages that the template accepts, otherwise
        the usual prompt of the template's family.
        """
        self._by_family = False
        first: Exception | None = None
        # Some templates need a list of tools, others take one as an offer.
        without_tools: tuple[list[Any] | None, ...] = (None, [])
        for form in _forms(messages):
            for no_tools in without_tools:
                try:
                    return self._formatted(form, no_tools)
                except _template_faults() as error:
                    first = first or error
        if prompt := family_prompt(self._template, without_calls(messages)):
            self._by_family = True
            return prompt
        raise LanguageModelError(
            "The chat template of {name} failed: {error}.",
            hint="Choose another model file.",
            name=self._name,
            error=first,
        ) from first

    def _formatted(self, messages: list[ChatMessage], no_tools: list[Any] | None) -> str:
        chat: Any = [_with_parsed_calls(message) for message in messages]
        offered = schemas() if self._tools is None else self._tools
        tools: Any = list(offered) if offered and TOOL_MARK in self._template else no_tools
        # While the model thinks, nothing is spoken. Qwen's templates take this switch, others
        # ignore it.
        response = self._formatter(
            messages=chat, tools=tools, functions=no_tools, enable_thinking=False
        )
        return str(response.prompt)


def load(settings: LanguageModelSettings, skills: Skills, progress: Progress) -> LlamaModel:
    """Load the file of the settings, a new one after a trial. ModelError; those of `progress`."""
    try:
        # Imported here: an optional extra, compiled on installation.
        import llama_cpp
    except ImportError as error:
        raise no_library() from error
    path = checked_file(settings.model)
    try:
        trial.check(path, settings, llama_cpp.__version__, progress)
    except OSError as error:
        raise ModelError(
            "{path} could not be read: {error}.",
            hint="Choose another file.",
            path=path,
            error=error.strerror or error,
        ) from error
    return open_file(settings, skills, progress)


def open_file(
    settings: LanguageModelSettings,
    skills: Skills,
    progress: Progress = lambda text, fraction: None,
) -> LlamaModel:
    """Load the file without a trial: a bad file ends this process. ModelError."""
    path = checked_file(settings.model)
    slice_tokens = GPU_SLICE_TOKENS if on_gpu() else CPU_SLICE_TOKENS
    try:
        llama = load_watched(
            f"Loading {path.name}",
            progress,
            model_path=str(path),
            n_ctx=max(MIN_CONTEXT_TOKENS, settings.context_tokens),
            n_batch=slice_tokens,
            n_threads=thread_count(),
            n_threads_batch=thread_count(),
            n_gpu_layers=-1 if on_gpu() else 0,
            verbose=False,
        )
        return LlamaModel(llama, path.stem, settings, skills)
    except _template_faults()[0] as error:
        raise ModelError(
            "The chat template of {name} cannot be read.",
            hint="Choose another model file.",
            name=path.name,
        ) from error
    except (ValueError, RuntimeError, OSError) as error:
        raise ModelError(
            "{name} could not be loaded as a language model.",
            hint="The file may be cut short, too new for this version, or too big for the "
            "memory: check {path}.",
            name=path.name,
            path=path,
        ) from error


def on_gpu() -> bool:
    """Return whether this llama.cpp computes on a graphics card."""
    import llama_cpp

    return bool(llama_cpp.llama_supports_gpu_offload())


def thread_count() -> int:
    """Return the physical cores but one, which voice and audio need; at least 1."""
    return max(1, (psutil.cpu_count(logical=False) or psutil.cpu_count() or 2) - 1)


def _chat_format(llama: "Llama", name: str) -> "tuple[str, Jinja2ChatFormatter]":
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    template = llama.metadata.get("tokenizer.chat_template", "")
    if not template:
        raise ModelError(
            "{name} has no chat template: it was not made for conversation.",
            hint="Choose an instruct or chat model.",
            name=name,
        )
    formatter = Jinja2ChatFormatter(
        template=template,
        bos_token=_token_text(llama, llama.token_bos()),
        eos_token=_token_text(llama, llama.token_eos()),
    )
    return template, formatter


def _forms(messages: list[ChatMessage]) -> Iterator[list[ChatMessage]]:
    """Yield the messages, then without calls, without a system prompt, or without both."""
    forms = [messages]
    if any(message["role"] == "tool" or "tool_calls" in message for message in messages):
        forms.append(without_calls(messages))
    yield from forms
    if len(messages) > 1 and messages[0]["role"] == "system":
        yield from map(without_system, forms)


def _template_faults() -> tuple[type[Exception], ...]:
    """Return the errors that a chat template, a program by the model's maker, can raise."""
    import jinja2  # comes with llama-cpp-python, so it is optional too

    others = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
    return (jinja2.TemplateError, *others)


def _token_text(llama: "Llama", token: int) -> str:
    if token < 0:  # the model has none
        return ""
    return bytes(llama.detokenize([token], special=True)).decode(errors="replace")


def _common_prefix(cached: list[int], prompt: list[int]) -> int:
    pairs = zip(cached, prompt, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(cached), len(prompt)))


def _with_parsed_calls(message: ChatMessage) -> ChatMessage:
    """Convert calls for templates: arguments as an object, no content as an empty text."""
    if "tool_calls" not in message:
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": parsed_arguments(text) or {}}}
        for call in message["tool_calls"]
        for text in [call["function"]["arguments"]]
    ]
    return {**message, "content": message.get("content") or "", "tool_calls": calls}
