"""What speaks: the synthesiser in use, and the samples that go to the loudspeaker."""
