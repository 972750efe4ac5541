from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from engine.llm.skills.matching.canonical import canonical

WORDS = (
    "what's time 3*4 10mi -40°C please two point five ½ stop, okay can you hey rubato a.m. 25th "
    "second % (1+2) don't now ten-minute ? ! thanks √9 twenty and a half ."
)
PARTS = st.sampled_from(WORDS.split())


@given(st.integers(0, 999_999))
def test_every_number_in_words_becomes_digits(number):
    assert canonical(num2words(number)) == str(number)


@given(st.lists(PARTS, max_size=8))
def test_canonical_text_is_its_own_canonical_form(parts):
    once = canonical(" ".join(parts))

    assert canonical(once) == once
