"""Reading figures, signs and short forms in Spanish, Italian, Brazilian Portuguese and French.

Read: numbers with the marks of the language, in the gender of the noun behind them; ordinals,
fractions, ranges; times, dates, money, percentages, units; abbreviations, initialisms, Roman
numerals; telephone numbers, addresses; common operators of formulas.

Not read: a noun two words away ("dos mil pessoas"), a decimal's gender, a currency other than the
dollar behind a bare "$", names of letters in lists, and endings of ordinals in the plural.
"""
