from engine.text.stream.paced import PacedText


def test_a_character_cut_into_halves_is_shown_whole_and_counted_once():
    text = PacedText(pacing=True)
    grown = [text.push("Great \ud83c"), text.push("\udf89 news"), text.push("\ud83c"), text.end()]

    assert "".join(growth.text for growth in grown) == "Great \U0001f389 news\ufffd"
    words = [word for growth in grown for word in growth.words]
    assert [(word.text, word.start) for word in words] == [("Great", 0), ("news", 8)]
