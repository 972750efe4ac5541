r"""What the commands and signs of LaTeX mean, in words.

Invariant: every entry is data; how the parts of a formula are put together is the speech's matter
(speech.py). A command in no table is said by its name.
"""

import re


def names(text: str) -> dict[str, str]:
    """ "alpha varphi=phi": each name with what is said for it, itself unless given."""
    entries = (entry.partition("=") for entry in text.split())
    return {name: said or name for name, _, said in entries}


def phrases(text: str) -> dict[str, str]:
    """ "le is at most|ge is at least": a name and its words, in entries parted by bars or lines."""
    entries = (entry.strip().partition(" ") for entry in re.split(r"[|\n]", text) if entry.strip())
    return {name: said for name, _, said in entries}


GREEK = names(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega varepsilon=epsilon vartheta=theta varpi=pi varrho=rho "
    "varsigma=sigma varphi=phi varkappa=kappa Gamma=gamma Delta=delta Theta=theta Lambda=lambda "
    "Xi=xi Pi=pi Sigma=sigma Upsilon=upsilon Phi=phi Psi=psi Omega=omega"
)

OPERANDS = GREEK | phrases(
    """
    infty infinity|partial partial|nabla del|hbar h bar|ell l|imath i|jmath j|emptyset the empty set
    varnothing the empty set|Re the real part of|Im the imaginary part of|aleph aleph
    angle angle|measuredangle angle|triangle triangle|square square|degree degrees
    ldots and so on|dots and so on|cdots and so on|vdots and so on|ddots and so on
    dotsc and so on|dotsb and so on|forall for all|exists there exists|nexists there is no
    existsone there exists exactly one|neg not|lnot not|therefore therefore
    because because|top true|bot false|dagger dagger
    prime prime|square box|Box box|QED Q-E-D|pounds pounds|S section|copyright copyright
    R R|N N|Z Z|Q Q|C C
    """
)

SIGNS = phrases(
    r"""
    ! factorial|% percent|\% percent|\# number|\& and|\$ dollars|\@ at|∞ infinity|∂ partial
    ∀ for all|∃ there exists|∅ the empty set|ℏ h bar|∇ del|… and so on|⋯ and so on
    """
)

OPERATORS = phrases(
    """
    + plus|- minus|− minus|* times|/ over|times times|cdot times|ast times|star star|div divided by
    pm plus or minus|mp minus or plus|cup union|cap intersection|setminus minus|backslash minus
    land and|wedge and|lor or|vee or|oplus direct sum|otimes tensor|circ of|bullet times
    bmod mod|mod mod|amalg and|sqcup union|sqcap intersection|odot times|ominus minus
    × times|· times|⋅ times|÷ divided by|± plus or minus|∪ union|∩ intersection|∧ and|∨ or
    """
)

RELATIONS = phrases(
    r"""
    = equals|< is less than|> is greater than|lt is less than|gt is greater than
    le is at most|leq is at most|leqslant is at most|ge is at least|geq is at least
    geqslant is at least|ne is not equal to|neq is not equal to|ll is much less than
    gg is much greater than|approx is about|simeq is about|sim is similar to
    cong is congruent to|equiv is equivalent to|propto is proportional to|in in|ni contains
    notin not in|subset is a subset of|subseteq is a subset of|subsetneq is a proper subset of
    nsubseteq is not a subset of|supset is a superset of|supseteq is a superset of
    to to|rightarrow to|longrightarrow to|Rightarrow implies|Longrightarrow implies|implies implies
    impliedby is implied by|Leftarrow is implied by|leftarrow from|gets from|longleftarrow from
    leftrightarrow if and only if|Leftrightarrow if and only if|Longleftrightarrow if and only if
    iff if and only if|mapsto maps to|longmapsto maps to|hookrightarrow embeds into
    rightharpoonup to|rightleftharpoons is in balance with|uparrow up|downarrow down
    perp is perpendicular to|parallel is parallel to|nparallel is not parallel to
    mid divides|nmid does not divide|vdash proves|models models|prec precedes|succ succeeds
    doteq equals|triangleq equals|coloneqq equals|asymp is about|leadsto leads to
    nearrow rises to|searrow falls to|lesssim is at most about|gtrsim is at least about
    ≤ is at most|≥ is at least|≠ is not equal to|≈ is about|∈ in|∉ not in|→ to|⇒ implies
    ⇔ if and only if|⊂ is a subset of|⊆ is a subset of|≡ is equivalent to|≪ is much less than
    ≫ is much greater than|∝ is proportional to|← from|↔ if and only if|↦ maps to
    """
)

FUNCTIONS = phrases(
    """
    sin sine|cos cosine|tan tangent|cot cotangent|sec secant|csc cosecant|arcsin arc sine
    arccos arc cosine|arctan arc tangent|sinh hyperbolic sine|cosh hyperbolic cosine
    tanh hyperbolic tangent|coth hyperbolic cotangent|log log|lg log|ln natural log|exp exp
    det the determinant|dim the dimension|ker the kernel|deg the degree|arg the argument
    gcd the greatest common divisor|lcm the least common multiple|Pr the probability
    tr the trace|Tr the trace|rank the rank|sgn the sign|sign the sign|hom hom|erf erf
    Var the variance|Cov the covariance|span the span|diag diag|sigmoid sigmoid|softmax softmax
    """
)
"""Said with "of" before what they are applied to."""

BIG = phrases(
    """
    sum the sum|prod the product|coprod the coproduct|int the integral|iint the double integral
    iiint the triple integral|oint the closed integral|bigcup the union|bigcap the intersection
    lim the limit|limsup the upper limit|liminf the lower limit|max the maximum|min the minimum
    sup the supremum|inf the infimum|argmax the argument of the maximum
    argmin the argument of the minimum|bigoplus the direct sum|bigotimes the tensor product
    bigwedge the conjunction|bigvee the disjunction|∑ the sum|∏ the product|∫ the integral
    """
)
"""Operators with bounds, and "of" before what they range over."""

LIMITS = frozenset({"lim", "limsup", "liminf"})

ACCENTS = phrases(
    """
    bar bar|overline bar|hat hat|widehat hat|tilde tilde|widetilde tilde|dot dot|ddot double dot
    vec vector|overrightarrow vector|underline |check check|breve breve|mathring ring
    """
)
"""One group; the word stands behind it, but "vector" before."""

LEADING_ACCENTS = frozenset({"vec", "overrightarrow"})

FONTS = frozenset(
    "mathbf mathbb mathcal mathfrak mathscr mathit boldsymbol bm mathsf mathtt boxed fbox "
    "underbrace overbrace smash pmb ensuremath hbox cancel substack displaylines".split()
)
"""One group, said as if the command were not there."""

ROMAN = frozenset("mathrm operatorname rm mathop ce si unit".split())
"""One group of upright letters: a unit, a function or a name."""

TEXTS = frozenset("text textbf textit textrm textsf texttt mbox emph textnormal".split())
"""One group of ordinary text."""

WITHOUT_GROUP = frozenset("label tag color hspace vspace phantom hphantom vphantom cline".split())
"""One group that is not said."""

SILENT = frozenset(
    "displaystyle textstyle scriptstyle limits nolimits left right middle big Big bigg Bigg bigl "
    "bigr Bigl Bigr biggl biggr Biggl Biggr nonumber notag hline hfill noindent centering rm bf it "
    "mathstrut strut allowbreak nobreak relax bigm Bigm".split()
)

SPACES = frozenset({"\\,", "\\;", "\\:", "\\!", "\\ ", "\\>", "~", "\\/"})
PAUSES = frozenset({"quad", "qquad"})

OPENING = {
    "(": ")", "[": ")", "\\{": "set", "lfloor": "floor", "lceil": "ceil", "langle": "angle",
    "lbrace": "set", "lvert": "|", "lVert": "‖", "lbrack": ")",
}  # fmt: skip
CLOSING = {
    ")": ")", "]": ")", "\\}": "set", "rfloor": "floor", "rceil": "ceil", "rangle": "angle",
    "rbrace": "set", "rvert": "|", "rVert": "‖", "rbrack": ")",
}  # fmt: skip
"""Brackets, and the kind that closes each; round and square ones may be mixed: [0, 1)."""

ENCLOSED = {
    "floor": "the floor of", "ceil": "the ceiling of", "|": "the absolute value of",
    "‖": "the norm of",
}  # fmt: skip

MATRICES = frozenset("matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix array".split())
ROWS = frozenset(
    "align aligned alignat gather gathered equation split multline eqnarray cases dcases rcases "
    "flalign displaymath math subequations".split()
)
ENVIRONMENTS = MATRICES | ROWS

STRUCTURES = frozenset(
    "frac dfrac tfrac cfrac sqrt binom dbinom tbinom overset underset stackrel textcolor pmod "
    "xrightarrow xleftarrow begin not".split()
)

COMMANDS = frozenset(
    name
    for table in (OPERANDS, OPERATORS, RELATIONS, FUNCTIONS, BIG, ACCENTS, OPENING, CLOSING)
    for name in table
    if name.isalpha() and name.isascii()
) | (FONTS | ROMAN | TEXTS | SILENT | PAUSES | STRUCTURES)
"""Every command that is known; in plain text, "\\name" is LaTeX only if it is one of them."""
