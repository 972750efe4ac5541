"""The units people ask about: what they say, what they type, how the answer names them.

Invariant: every `pint` name is defined in pint's registry and every spoken or typed form belongs to
one unit only (a test checks both).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """`pint` is pint's name; `singular` and `plural` are spoken in answers; `also` are further
    spoken forms, `typed` the symbols, in lower case.
    """

    pint: str
    singular: str
    plural: str
    also: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """Everything that names this unit, in lower case."""
        return tuple(dict.fromkeys((self.singular, self.plural, *self.also, *self.typed)))


def _metre(prefix: str, typed: str) -> Unit:
    return Unit(
        f"{prefix}meter",
        f"{prefix}metre",
        f"{prefix}metres",
        (f"{prefix}meter", f"{prefix}meters"),
        (typed, f"{typed}s") if prefix else (typed,),
    )


def _litre(prefix: str, typed: str) -> Unit:
    return Unit(
        f"{prefix}liter",
        f"{prefix}litre",
        f"{prefix}litres",
        (f"{prefix}liter", f"{prefix}liters"),
        (typed,),
    )


def _area(length: str, plural: str, typed: str, *american: str) -> Unit:
    also = tuple(f"square {form}" for form in american)
    symbols = (f"sq {typed}", f"sq{typed}", f"{typed}2", f"{typed}^2", f"{typed} ^ 2")
    return Unit(f"{length}**2", f"square {length}", f"square {plural}", also, symbols)


def _volume(length: str, plural: str, typed: str, *american: str) -> Unit:
    also = tuple(f"cubic {form}" for form in american)
    symbols = (f"cu {typed}", f"{typed}3", f"{typed}^3", f"{typed} ^ 3")
    return Unit(f"{length}**3", f"cubic {length}", f"cubic {plural}", also, symbols)


UNITS: tuple[Unit, ...] = (
    # length
    _metre("nano", "nm"),
    _metre("micro", "um"),
    _metre("milli", "mm"),
    _metre("centi", "cm"),
    _metre("", "m"),
    _metre("kilo", "km"),
    Unit("inch", "inch", "inches", typed=("in",)),
    Unit("foot", "foot", "feet", typed=("ft",)),
    Unit("yard", "yard", "yards", typed=("yd", "yds")),
    Unit("mile", "mile", "miles", typed=("mi",)),
    Unit("nautical_mile", "nautical mile", "nautical miles", typed=("nmi",)),
    Unit("furlong", "furlong", "furlongs"),
    Unit("light_year", "light year", "light years", typed=("ly",)),
    Unit("astronomical_unit", "astronomical unit", "astronomical units", typed=("au",)),
    Unit("parsec", "parsec", "parsecs", typed=("pc",)),
    # area
    _area("millimetre", "millimetres", "mm", "millimeter", "millimeters"),
    _area("centimetre", "centimetres", "cm", "centimeter", "centimeters"),
    _area("metre", "metres", "m", "meter", "meters"),
    _area("kilometre", "kilometres", "km", "kilometer", "kilometers"),
    _area("inch", "inches", "in"),
    _area("foot", "feet", "ft"),
    _area("yard", "yards", "yd"),
    _area("mile", "miles", "mi"),
    Unit("acre", "acre", "acres", typed=("ac",)),
    Unit("hectare", "hectare", "hectares", typed=("ha",)),
    # volume
    _litre("milli", "ml"),
    _litre("centi", "cl"),
    _litre("deci", "dl"),
    _litre("", "l"),
    _volume("centimetre", "centimetres", "cm", "centimeter", "centimeters"),
    _volume("metre", "metres", "m", "meter", "meters"),
    _volume("inch", "inches", "in"),
    _volume("foot", "feet", "ft"),
    Unit("teaspoon", "teaspoon", "teaspoons", typed=("tsp",)),
    Unit("tablespoon", "tablespoon", "tablespoons", typed=("tbsp",)),
    Unit("fluid_ounce", "fluid ounce", "fluid ounces", typed=("fl oz", "floz")),
    Unit("cup", "cup", "cups"),
    Unit("pint", "pint", "pints", typed=("pt",)),
    Unit("quart", "quart", "quarts", typed=("qt",)),
    Unit("gallon", "gallon", "gallons", typed=("gal",)),
    Unit("imperial_pint", "imperial pint", "imperial pints", ("british pint", "british pints")),
    Unit(
        "imperial_gallon",
        "imperial gallon",
        "imperial gallons",
        ("british gallon", "british gallons"),
    ),
    Unit("oil_barrel", "barrel", "barrels"),
    # mass
    Unit("microgram", "microgram", "micrograms", typed=("mcg", "ug")),
    Unit("milligram", "milligram", "milligrams", typed=("mg",)),
    Unit("gram", "gram", "grams", ("gramme", "grammes"), ("g", "gr")),
    Unit("kilogram", "kilogram", "kilograms", ("kilo", "kilos"), ("kg", "kgs")),
    Unit("tonne", "tonne", "tonnes", ("metric ton", "metric tons"), ("t",)),
    Unit("ounce", "ounce", "ounces", typed=("oz",)),
    Unit("pound", "pound", "pounds", typed=("lb", "lbs")),
    Unit("stone", "stone", "stone", ("stones",), typed=("st",)),
    Unit("ton", "ton", "tons", ("short ton", "short tons")),
    Unit("carat", "carat", "carats", typed=("ct",)),
    # temperature
    Unit(
        "degree_Celsius",
        "degree Celsius",
        "degrees Celsius",
        ("degree celsius", "degrees celsius", "celsius", "degrees centigrade", "centigrade"),
        ("c", "degrees c", "degree c"),
    ),
    Unit(
        "degree_Fahrenheit",
        "degree Fahrenheit",
        "degrees Fahrenheit",
        ("degree fahrenheit", "degrees fahrenheit", "fahrenheit"),
        ("f", "degrees f", "degree f"),
    ),
    Unit("kelvin", "kelvin", "kelvins", ("degrees kelvin",), ("k",)),
    # time
    Unit("millisecond", "millisecond", "milliseconds", typed=("ms",)),
    Unit("second", "second", "seconds", typed=("s", "sec", "secs")),
    Unit("minute", "minute", "minutes", typed=("min", "mins")),
    Unit("hour", "hour", "hours", typed=("h", "hr", "hrs")),
    Unit("day", "day", "days"),
    Unit("week", "week", "weeks"),
    Unit("fortnight", "fortnight", "fortnights"),
    Unit("month", "month", "months"),
    Unit("year", "year", "years", typed=("yr", "yrs")),
    Unit("decade", "decade", "decades"),
    Unit("century", "century", "centuries"),
    # speed
    Unit(
        "kilometer/hour",
        "kilometre per hour",
        "kilometres per hour",
        ("kilometer per hour", "kilometers per hour", "kilometres an hour", "kilometers an hour"),
        ("kph", "kmh", "km/h", "km / h"),
    ),
    Unit("mile/hour", "mile per hour", "miles per hour", ("miles an hour",), ("mph",)),
    Unit(
        "meter/second",
        "metre per second",
        "metres per second",
        ("meter per second", "meters per second"),
        ("m/s", "m / s", "mps"),
    ),
    Unit("foot/second", "foot per second", "feet per second", typed=("fps", "ft/s", "ft / s")),
    Unit("knot", "knot", "knots", typed=("kt", "kn")),
    # energy, power, pressure, force, angle
    Unit("joule", "joule", "joules", typed=("j",)),
    Unit("kilojoule", "kilojoule", "kilojoules", typed=("kj",)),
    Unit("calorie", "small calorie", "small calories", typed=("cal",)),
    Unit(
        "kilocalorie",
        "kilocalorie",
        "kilocalories",
        ("calorie", "calories"),  # on a packet of food a calorie is a kilocalorie
        ("kcal",),
    ),
    Unit("watt_hour", "watt hour", "watt hours", typed=("wh",)),
    Unit("kilowatt_hour", "kilowatt hour", "kilowatt hours", typed=("kwh",)),
    Unit("watt", "watt", "watts", typed=("w",)),
    Unit("kilowatt", "kilowatt", "kilowatts", typed=("kw",)),
    Unit("horsepower", "horsepower", "horsepower", typed=("hp",)),
    Unit("pascal", "pascal", "pascals", typed=("pa",)),
    Unit("kilopascal", "kilopascal", "kilopascals", typed=("kpa",)),
    Unit("bar", "bar", "bars"),
    Unit("psi", "pound per square inch", "pounds per square inch", typed=("psi",)),
    Unit("atmosphere", "atmosphere", "atmospheres", typed=("atm",)),
    Unit("newton", "newton", "newtons", typed=("n",)),
    Unit("degree", "degree", "degrees", typed=("deg",)),
    Unit("radian", "radian", "radians", typed=("rad",)),
    # data
    Unit("bit", "bit", "bits"),
    Unit("byte", "byte", "bytes", typed=("b",)),
    Unit("kilobyte", "kilobyte", "kilobytes", typed=("kb",)),
    Unit("megabyte", "megabyte", "megabytes", typed=("mb",)),
    Unit("gigabyte", "gigabyte", "gigabytes", typed=("gb",)),
    Unit("terabyte", "terabyte", "terabytes", typed=("tb",)),
    Unit("gibibyte", "gibibyte", "gibibytes", typed=("gib",)),
    Unit("megabit", "megabit", "megabits"),
    Unit("gigabit", "gigabit", "gigabits"),
)
