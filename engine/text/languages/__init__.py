"""Reading figures, signs and short forms in Spanish, Italian, Brazilian Portuguese and French.

Read: numbers with the marks of the language, in the gender of the noun behind them; ordinals,
fractions, ranges; times, dates, money, percentages, units; abbreviations, initialisms, Roman
numerals; telephone numbers, addresses; common operators of formulas.

Not read: the gender of a noun two words away ("duas mil pessoas") or of a fraction ("tres cuartas
partes"), pesos behind a bare "$", ordinals in the plural, minutes as 10', an x between lengths
("fois"), centimetres behind metres (1,80 m), matrices and bounds of formulas, and stage directions
in the words of the language.
"""
