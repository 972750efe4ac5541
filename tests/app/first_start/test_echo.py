"""What is said of the echo follows from the levels."""

from app.first_start.echo import Echo, EchoMeasurement
from engine.api import Levels

SILENT, PLAYS = -120.0, -20.0


def measured(raw_db: float, left_db: float, *, levels: int = 20) -> Echo | None:
    measurement = EchoMeasurement()
    for _ in range(levels):
        measurement.add(Levels(-62.0, SILENT, -60.0))
    for _ in range(levels):
        measurement.add(Levels(left_db, PLAYS, raw_db))
    return measurement.echo


def test_a_headset_is_noticed():
    echo = measured(raw_db=-59.0, left_db=-61.0)
    assert echo is not None
    assert not echo.is_heard
    assert "headset" in echo.advice


def test_an_echo_that_was_taken_out_leaves_the_person_free_to_speak():
    echo = measured(raw_db=-25.0, left_db=-55.0)
    assert echo is not None
    assert echo.is_heard
    assert echo.is_cancelled
    assert echo.advice == "The echo is 30 dB quieter than it was: just speak to interrupt."


def test_an_echo_that_stays_is_told_with_what_helps():
    echo = measured(raw_db=-25.0, left_db=-25.0)
    assert echo is not None
    assert not echo.is_cancelled
    assert "35 dB above the room" in echo.advice
    assert "talk key" in echo.advice


def test_too_little_says_nothing():
    assert measured(raw_db=-25.0, left_db=-25.0, levels=4) is None


def test_the_room_is_what_was_heard_before_the_loudspeaker():
    measurement = EchoMeasurement()
    for _ in range(10):
        measurement.add(Levels(-60.0, SILENT, -60.0))
    for _ in range(10):
        measurement.add(Levels(-30.0, PLAYS, -30.0))
    for _ in range(50):
        measurement.add(Levels(-35.0, SILENT, -35.0))  # it rings on
    assert measurement.echo == Echo(-60.0, -30.0, -30.0)
