"""From dictionaries to the entries that espeak needs."""

# ruff: noqa: RUF001  IPA letters look like others on purpose
from installer.lexicon import Builder, fold, mnemonics, own_entries


def test_symbols_of_misaki_become_mnemonics_of_espeak():
    assert mnemonics("wˈʊstəɹ") == "w'Ust3"
    assert mnemonics("dAkˈɑɹt") == "deIk'A@t"
    assert mnemonics("ɡwˌɑdələhˈɑɹə") == "gw,A:d@l@h'A:r@"
    assert mnemonics("tˈusˌɑn", "tucson") == "t'u:s,0n"
    assert mnemonics("θˈʌndəɹˌIz") == "T'Vnd3r,aIz"


def test_only_differences_that_make_another_word_are_kept():
    american = {"gnocchi": "njˈɑki", "every": "ˈɛvəɹi", "table": "tˈAbᵊl"}
    british = {"gnocchi": "njˈɒki", "dance": "dˈɑːns"}
    builder = Builder(american, british, {"rossini": ["ɹOsˈini"], "miller": ["mˈɪləɹ"]})
    found = dict(builder.entries())
    assert found["gnocchi"] == "nj'0ki\t="
    assert {"every", "table", "miller"}.isdisjoint(found)
    assert fold("ˈɛvəɹi") == fold("ˈɛvɹi")


def test_our_own_list_has_bases_and_plurals_but_takes_no_other_word():
    text = "# note\nPärt\tp'e@t\nrosé\troUz'eI\nDes Moines\td@ m'OIn\nBath\tb'aT\tb'A:T\n"
    found = own_entries(text, {"part", "rose", "baths"})
    assert found["des moines"] == "d@ m'OIn\t="
    assert found["pärt"] == "p'e@t\t="
    assert {"part", "rose", "roses", "baths"}.isdisjoint(found)
    assert found["rosés"] == "roUz'eIz\t="
    assert found["bath"] == "b'aT\tb'A:T"
