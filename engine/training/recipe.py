"""The description of a training run: one TOML file, typed, with all defaults visible here.

Invariant: a recipe and its seed decide every random choice of a run; properties of the machine
(cores, device, folders) are not part of it.
"""

from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import InvalidInput
from engine.training.stages import SYSTEMS, VOXTREAM2
from engine.tts.packs import Weights
from engine.tts.voxtream.config import NEVER, UNBOUNDED
from engine.typed_values import WrongValue, build, read_text, toml_table

LARGEST_BYTES = 256 * 1024  # a recipe is a few kilobytes


@dataclass(frozen=True)
class Corpus:
    """Speech to synthesise. Rates in syllables per second (SPS)."""

    hours: float
    shard_seconds: float = 600.0
    first_shard: int = 0  # other numbers give other sentences, for a voice that has learnt these
    synthesisers: tuple[str, ...] = ("flite", "festival", "espeak")  # or "kokoro"
    speakers: int = 240  # virtual ones, over all synthesisers
    held_out_speakers: int = 24  # of them, never trained on
    lowest_rate: float = 1.0
    highest_rate: float = 7.5
    rate_changes: float = 0.2  # share of utterances whose rate changes inside
    hesitations: float = 0.35  # share of utterances below 3 SPS that get fillers
    own_pace: float = 0.0  # share of utterances at the speaker's own pace
    grammar_share: float = 0.45  # the rest is prose found on the machine
    replies: float = 0.0  # share of utterances of one to three words
    spellings: float = 0.0  # share of letters, telephone numbers and codes
    test_sentences: int = 200
    validation_share: float = 0.02
    rare_phone: int = 40  # phones heard less often are replaced by similar ones


@dataclass(frozen=True)
class Schedule:
    """How long and how fast one network is trained: `steps` or `seconds`, whichever end first."""

    steps: int
    batch: int
    learning_rate: float
    warmup: int = 200
    seconds: float = 0.0  # on the machine that trains, 0 = by steps alone
    decay_from: float = 0.3  # share of the schedule after which the rate falls to its end
    last_rate: float = 0.02  # share of the learning rate at the end
    weight_decay: float = 0.02
    clip: float = 1.0
    average: float = 0.999  # of the weights, per step; 0 = none
    checkpoint_every: int = 250
    validate_every: int = 500
    best: str = ""  # name of the loss with whose lowest the weights are kept; "" = those of the end
    bf16: bool = False  # multiply in bfloat16 where the machine can; the weights stay fp32


UNTRAINED: Schedule = Schedule(steps=0, batch=1, learning_rate=0.0)  # of what a pack brings along


@dataclass(frozen=True)
class Codec:
    """The small codec, 24 kHz and 12.5 frames a second, and its codes, which are learnt with a
    decoder of spectra."""

    schedule: Schedule = UNTRAINED
    codebooks: int = 8
    codes: int = 1024  # values of one codebook
    width: int = 256
    blocks: int = 6
    layers: int = 2  # of the transformers around the quantiser
    window_frames: int = 16  # 1.28 s
    hours: float = 4.0  # of the corpus held in memory
    mel: float = 1.0
    waves: float = 0.5  # multi-resolution spectra
    phones: float = 0.3  # cross-entropy of the phones from the first codebook
    all_phones: float = 0.3  # and from all codebooks: distances of spectra hardly notice consonants
    commitment: float = 0.25


@dataclass(frozen=True)
class Decoder:
    """The decoder of pulses that is shipped, trained on codes that no longer change."""

    schedule: Schedule = UNTRAINED
    pack: str = ""  # the vocoder of this pack of this machine is taken, and none is trained
    blocks: int = 0  # and its transformer's layers; 0 = as many as the codec's
    layers: int = 0
    window_frames: int = 32  # 2.56 s
    hours: float = 4.0  # of the corpus held in memory
    mel: float = 1.0
    waves: float = 0.5
    latents: float = 0.1  # distance between output and original in the codec's encoder
    pitch: float = 4.0  # of the source's log pitch where there is voice
    phones: bool = False  # it is told the phones of each frame
    heard: float = 0.0  # cross-entropy of the phones that a reader hears in the output
    kept: float = 0.0  # weight of the original pack's weights in the result
    drawn: float = 0.0  # share of windows with codes the voice drew; above 0 it is trained first
    adversary_from: float = 1_000_000  # step, below 1 share of the schedule; too many = never
    critic_windows: int = 2  # of a batch that the critic judges
    critic_rate: float = 3.0  # factor on the schedule's learning rate
    adversary: float = 1.0
    features: float = 2.0


@dataclass(frozen=True)
class Speaker:
    """Who speaks, as a vector."""

    schedule: Schedule = UNTRAINED
    channels: int = 128
    width: int = 192
    bands: int = 64
    window_seconds: float = 2.5
    hours: float = 4.0  # of the corpus held in memory
    margin: float = 0.2
    scale: float = 24.0


@dataclass(frozen=True)
class Stack:
    """Shape of one transformer of the voice."""

    layers: int
    heads: int
    kv_heads: int
    hidden: int


@dataclass(frozen=True)
class Voice:
    """VoXtream2's own model, small."""

    schedule: Schedule
    width: int = 256
    phone: Stack = field(default_factory=lambda: Stack(2, 4, 2, 640))
    temporal: Stack = field(default_factory=lambda: Stack(4, 4, 2, 768))
    depth: Stack = field(default_factory=lambda: Stack(2, 4, 2, 512))
    window_seconds: float = 24.0
    short_seconds: float = 10.0  # window of the first steps
    long_from: float = 0.4  # share of the steps after which windows are long
    prompt_seconds: tuple[float, float] = (3.0, 10.0)  # VoXtream2, 3.2
    drop: float = 0.1  # of text, prompt codes and speaker, each alone
    drop_all: float = 0.1  # all three at once, which guidance needs
    random_codes: float = 0.12  # share of input frames with random codes
    lost_frames: float = 0.06  # share of input frames without codes
    dropout: float = 0.1
    depth_share: float = 0.33  # share of the frames with a depth loss
    depth_weight: float = 2.0
    noisy_prompts: float = 0.5
    look_ahead: int = 5
    frozen_depth: bool = False  # what makes acoustic codes stays the pack's (VoXtream, 3.1)
    min_depth_frames: int = 8


@dataclass(frozen=True)
class SpeakStream:
    """The network of SpeakStream."""

    schedule: Schedule = UNTRAINED
    width: int = 256
    stack: Stack = field(default_factory=lambda: Stack(4, 4, 2, 768))
    level_width: int = 16
    prenet: int = 128
    forgotten: float = 0.5  # share of the pre-net that is dropped, in use as in training (ours)
    longest_seconds: float = 8.0  # of a lesson, which is one utterance
    largest_window: int = 4  # the paper's m is drawn from 1 to so many, for every batch
    window: int = 3  # m in use
    hop: int = 1  # n
    longer: float = 0.5  # how likely a unit may be to be longer when it is over, in use
    wrong_levels: float = 0.1  # share of input positions with levels a little off
    lost: float = 0.06  # share of input positions without levels, two or three together
    end_weight: float = 1.0  # of the loss of the units' ends
    dropout: float = 0.1


@dataclass(frozen=True)
class LlmVox:
    """The network of LLMVoX."""

    schedule: Schedule = UNTRAINED
    width: int = 256
    stack: Stack = field(default_factory=lambda: Stack(4, 4, 2, 768))
    prenet: int = 128
    forgotten: float = 0.5  # share of the pre-net that is dropped, in use as in training (ours)
    shortest_seconds: float = 0.5
    longest_seconds: float = 8.0  # of a lesson, which is one sentence
    short_seconds: float = 4.0  # of those of the first steps
    long_from: float = 0.3  # share of the steps after which lessons are long
    wrong_tokens: float = 0.05  # share of input tokens that are others
    spliced: float = 0.0  # share of lessons that are put together from words of several sentences
    onset_weight: float = 0.2
    guided: float = 0.0  # of a loss that keeps one head on the unit being spoken (ours)
    dropout: float = 0.1


@dataclass(frozen=True)
class Codebook:
    """Tokens of SMLLE and LLMVoX: 25 a second."""

    shapes: int = 8  # of a phone, tokens


@dataclass(frozen=True)
class Transducer:
    """SMLLE's first network."""

    schedule: Schedule = UNTRAINED
    width: int = 256
    encoder: Stack = field(default_factory=lambda: Stack(3, 4, 2, 640))
    layers: int = 2  # of the LSTM
    joint: int = 256
    reach: int = 4  # phones to either side of the known alignment that the loss sums over
    path_from: float = 0.06  # share of the steps on the known path alone
    longest_seconds: float = 8.0
    lengths: float = 1.0  # in use: how much of what is learnt of phones' lengths is drawn
    dropout: float = 0.1


@dataclass(frozen=True)
class Spectrum:
    """SMLLE's second network, and LLMVoX's decoder."""

    schedule: Schedule = UNTRAINED
    width: int = 256
    stack: Stack = field(default_factory=lambda: Stack(4, 4, 2, 768))
    prenet: int = 256
    latent: int = 256
    ahead: int = 0  # steps whose phones are known before they are spoken (ours)
    flux: float = 0.5  # SMLLE, 3.2
    flux_from: float = 0.2
    prompt_seconds: float = 3.0
    longest_seconds: float = 8.0
    without_prompt: float = 0.1
    wrong_tokens: float = 0.1  # share of tokens that are others: in use they are drawn
    drawn: float = 0.0  # share of lessons whose tokens the transducer draws, which is trained first
    drawn_from: float = 0.0  # share of the schedule
    own: float = 0.0  # share of steps whose lessons hear what the network says itself, as in use
    own_from: float = 0.5  # share of the schedule
    shifted: float = 0.2  # share of lessons whose phones come a step early or late
    dropout: float = 0.5  # of the pre-net


@dataclass(frozen=True)
class Evaluate:
    """How much is measured, on held-out text and speakers; 0 and () = nothing."""

    whisper: bool = True  # Whisper base judges too, 145 MB
    sentences: int = 200  # by every voice
    naturalness: int = 16  # of them, that DNSMOS hears
    short_replies: int = 40  # by all voices in turn, like everything below
    timed: int = 8  # sentences by the first voice whose frames are timed
    rates: tuple[float, ...] = (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5)
    rate_sentences: int = 36  # at every rate
    clones: int = 24  # speakers


QUICK: Evaluate = Evaluate(  # `evaluate --quick`: does everything work, is nothing far off
    sentences=4, naturalness=1, short_replies=4, timed=1, rates=(2.0, 4.0, 6.0), rate_sentences=4,
    clones=3,
)  # fmt: skip


@dataclass(frozen=True)
class Export:
    """What ships."""

    name: str = "rubato-starter"
    weights: Weights = Weights.FLOAT16  # on the disk
    voices: tuple[str, ...] = ("Ada", "Bruno", "Clara", "Dario", "Edda", "Felix")
    speakers: tuple[int, ...] = ()  # () = those of the pack it began with, or the most different
    guidance: float = 1.5
    acoustic_guidance: float = 1.0
    speaker_weight: float = 1.0
    temperature: float = 0.8
    dropout: float = 0.0  # of the pre-net of spectra when it speaks; 0 = as it learnt
    passage_seconds: float = 10.0  # after these, a sentence's end starts from the prompt again
    weight: float = 8.0  # of the pull towards a rate
    tuning_seconds: float = 60.0  # of speech with the histogram of each rate; 0 = as in the corpus
    look_ahead: int = 0  # this and what follows: see Generation
    own_rate: float = 0.0
    lowest_rate: float = 0.0
    highest_rate: float = UNBOUNDED
    frames_heard: int = 0
    frames_in_word: int = NEVER
    # For the card alone: what was measured, and why figures miss their targets. Not in the repr, so
    # that another sentence does not ask for the stage again (see Run.key).
    reached: tuple[str, ...] = field(default=(), repr=False)
    limits: tuple[str, ...] = field(default=(), repr=False)


Network = Codec | Decoder | Speaker | Voice | SpeakStream | LlmVox | Transducer | Spectrum


@dataclass(frozen=True, kw_only=True)
class Recipe:
    name: str
    seed: int
    system: str = VOXTREAM2  # or another of those in stages.py
    corpus: Corpus
    codec: Codec = field(default_factory=Codec)
    decoder: Decoder = field(default_factory=Decoder)
    speaker: Speaker = field(default_factory=Speaker)
    voice: Voice = field(default_factory=lambda: Voice(UNTRAINED))
    speakstream: SpeakStream = field(default_factory=SpeakStream)
    llmvox: LlmVox = field(default_factory=LlmVox)
    codebook: Codebook = field(default_factory=Codebook)
    transducer: Transducer = field(default_factory=Transducer)
    spectrum: Spectrum = field(default_factory=Spectrum)
    evaluate: Evaluate = field(default_factory=Evaluate)
    export: Export = field(default_factory=Export)
    begin_with: str = ""  # folder of a pack: codes and speaker encoder stay, its voice learns on


def read_recipe(file: Path) -> Recipe:
    """Read a recipe from its file. InvalidInput names the key that is unknown, missing or wrong."""
    try:
        table = toml_table(read_text(file, LARGEST_BYTES))
    except (OSError, ValueError) as error:
        message = "The recipe {file} cannot be read: {error}."
        raise InvalidInput(message, file=file, error=error) from error
    try:
        recipe = build(Recipe, table)
    except WrongValue as error:
        message, hint = "The recipe {file} cannot be used: {error}.", error.hint
        raise InvalidInput(message, hint=hint, file=file, error=error) from error
    _check(recipe)
    return recipe


def _check(recipe: Recipe) -> None:
    """Check what the types cannot express."""
    if recipe.system not in SYSTEMS:
        raise InvalidInput(
            "The recipe's system '{system}' is not known.",
            hint="There are: {names}.",
            system=recipe.system,
            names=", ".join(SYSTEMS),
        )
    corpus, voice = recipe.corpus, recipe.voice
    rules = {
        "voice.frozen_depth needs a voice to begin with": not voice.frozen_depth
        or recipe.begin_with != "",
        "corpus.hours must be above 0": corpus.hours > 0,
        "corpus.first_shard must be 0 to 8000": 0 <= corpus.first_shard <= 8000,
        "corpus.lowest_rate must be above 0": corpus.lowest_rate > 0,
        "corpus.lowest_rate must be below highest_rate": corpus.lowest_rate < corpus.highest_rate,
        "corpus.held_out_speakers must be fewer than speakers": corpus.held_out_speakers
        < corpus.speakers,
        "decoder.drawn must be 0 to 1": 0 <= recipe.decoder.drawn <= 1,
        "voice.width must be a multiple of every stack's heads": all(
            voice.width % (2 * stack.heads) == 0 and stack.heads % stack.kv_heads == 0
            for stack in (voice.phone, voice.temporal, voice.depth)
        ),
        "what is to be trained needs a schedule of steps, or begin_with a pack": recipe.begin_with
        != ""
        or all(
            getattr(recipe, stage.learns).schedule.steps > 0
            for stage in SYSTEMS[recipe.system].stages.values()
            if stage.learns
        ),
        "what a pack brings along has no schedule": recipe.begin_with == ""
        or not any(
            stage.can_be_taken and name != "decoder" and getattr(recipe, name).schedule.steps
            for name, stage in SYSTEMS[recipe.system].stages.items()
        ),
        "decoder.kept must be 0 to 1, and above 0 with begin_with alone": 0
        <= recipe.decoder.kept
        <= (1 if recipe.begin_with else 0),
    }
    for sentence, holds in rules.items():
        if not holds:
            raise InvalidInput("The recipe does not hold together: {sentence}.", sentence=sentence)
