"""Units of measurement: what people say and type, how an answer names them, how a text writes them.

Invariant: every `pint` name is defined in pint's registry, and every spoken or typed form and every
sign belongs to one unit only (tests check both).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Unit:
    """`pint` is pint's name; `singular` and `plural` are spoken in answers; `also` are further
    spoken forms, `typed` the symbols in lower case. `signs` are the symbols as texts write them,
    with spaces between; `read` says how they are read aloud, where that differs from pint's name.
    """

    pint: str
    singular: str
    plural: str
    also: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    signs: str = ""
    read: str = ""

    @property
    def american(self) -> str:
        """How its sign is read aloud, in the singular."""
        name = self.pint.replace("_", " ").replace("/", " per ").replace("metre", "meter")
        for power, word in (("**2", "square "), ("**3", "cubic ")):
            if name.endswith(power):
                name = word + name.removesuffix(power)
        return self.read or name

    @property
    def forms(self) -> tuple[str, ...]:
        """Everything that names this unit, in lower case."""
        return tuple(dict.fromkeys((self.singular, self.plural, *self.also, *self.typed)))


def _metre(prefix: str, typed: str, signs: str) -> Unit:
    return Unit(
        f"{prefix}meter",
        f"{prefix}metre",
        f"{prefix}metres",
        (f"{prefix}meter", f"{prefix}meters"),
        (typed, f"{typed}s") if prefix else (typed,),
        signs,
    )


def _litre(prefix: str, typed: str, signs: str) -> Unit:
    return Unit(
        f"{prefix}liter",
        f"{prefix}litre",
        f"{prefix}litres",
        (f"{prefix}liter", f"{prefix}liters"),
        (typed,),
        signs,
    )


def _area(length: str, plural: str, typed: str, *american: str, signs: str = "") -> Unit:
    also = tuple(f"square {form}" for form in american)
    symbols = (f"sq {typed}", f"sq{typed}", f"{typed}2", f"{typed}^2", f"{typed} ^ 2")
    return Unit(f"{length}**2", f"square {length}", f"square {plural}", also, symbols, signs)


def _volume(length: str, plural: str, typed: str, *american: str, signs: str = "") -> Unit:
    also = tuple(f"cubic {form}" for form in american)
    symbols = (f"cu {typed}", f"{typed}3", f"{typed}^3", f"{typed} ^ 3")
    return Unit(f"{length}**3", f"cubic {length}", f"cubic {plural}", also, symbols, signs)


UNITS: tuple[Unit, ...] = (
    # length
    _metre("nano", "nm", "nm"),
    _metre("micro", "um", "µm μm"),
    _metre("milli", "mm", "mm"),
    _metre("centi", "cm", "cm"),
    _metre("", "m", "m"),
    _metre("kilo", "km", "km"),
    Unit("inch", "inch", "inches", typed=("in",), signs="in ″"),
    Unit("foot", "foot", "feet", typed=("ft",), signs="ft"),
    Unit("yard", "yard", "yards", typed=("yd", "yds"), signs="yd yds"),
    Unit("mile", "mile", "miles", typed=("mi",), signs="mi miles"),
    Unit("nautical_mile", "nautical mile", "nautical miles", typed=("nmi",), signs="nmi"),
    Unit("furlong", "furlong", "furlongs"),
    Unit("light_year", "light year", "light years", typed=("ly",), signs="ly", read="light-year"),
    Unit("astronomical_unit", "astronomical unit", "astronomical units", typed=("au",)),
    Unit("parsec", "parsec", "parsecs", typed=("pc",)),
    # area
    _area("millimetre", "millimetres", "mm", "millimeter", "millimeters"),
    _area("centimetre", "centimetres", "cm", "centimeter", "centimeters"),
    _area("metre", "metres", "m", "meter", "meters", signs="sqm"),
    _area("kilometre", "kilometres", "km", "kilometer", "kilometers"),
    _area("inch", "inches", "in"),
    _area("foot", "feet", "ft", signs="sqft"),
    _area("yard", "yards", "yd"),
    _area("mile", "miles", "mi"),
    Unit("acre", "acre", "acres", typed=("ac",)),
    Unit("hectare", "hectare", "hectares", typed=("ha",), signs="ha"),
    # volume
    _litre("milli", "ml", "ml mL"),
    _litre("centi", "cl", "cl"),
    _litre("deci", "dl", "dl dL"),
    _litre("", "l", "l L"),
    _volume("centimetre", "centimetres", "cm", "centimeter", "centimeters", signs="cc"),
    _volume("metre", "metres", "m", "meter", "meters"),
    _volume("inch", "inches", "in"),
    _volume("foot", "feet", "ft"),
    Unit("teaspoon", "teaspoon", "teaspoons", typed=("tsp",), signs="tsp Tsp"),
    Unit("tablespoon", "tablespoon", "tablespoons", typed=("tbsp",), signs="Tbsp tbsp"),
    Unit("fluid_ounce", "fluid ounce", "fluid ounces", typed=("fl oz", "floz")),
    Unit("cup", "cup", "cups"),
    Unit("pint", "pint", "pints", typed=("pt",), signs="pt"),
    Unit("quart", "quart", "quarts", typed=("qt",), signs="qt"),
    Unit("gallon", "gallon", "gallons", typed=("gal",), signs="gal"),
    Unit("imperial_pint", "imperial pint", "imperial pints", ("british pint", "british pints")),
    Unit(
        "imperial_gallon",
        "imperial gallon",
        "imperial gallons",
        ("british gallon", "british gallons"),
    ),
    Unit("oil_barrel", "barrel", "barrels"),
    # mass
    Unit("microgram", "microgram", "micrograms", typed=("mcg", "ug"), signs="µg μg mcg"),
    Unit("milligram", "milligram", "milligrams", typed=("mg",), signs="mg"),
    Unit("gram", "gram", "grams", ("gramme", "grammes"), ("g", "gr"), signs="g"),
    Unit("kilogram", "kilogram", "kilograms", ("kilo", "kilos"), ("kg", "kgs"), signs="kg"),
    Unit("tonne", "tonne", "tonnes", ("metric ton", "metric tons"), ("t",)),
    Unit("ounce", "ounce", "ounces", typed=("oz",), signs="oz"),
    Unit("pound", "pound", "pounds", typed=("lb", "lbs"), signs="lb lbs"),
    Unit("stone", "stone", "stone", ("stones",), typed=("st",)),
    Unit("ton", "ton", "tons", ("short ton", "short tons")),
    Unit("carat", "carat", "carats", typed=("ct",), signs="ct", read="karat="),
    # temperature
    Unit(
        "degree_Celsius",
        "degree Celsius",
        "degrees Celsius",
        ("degree celsius", "degrees celsius", "celsius", "degrees centigrade", "centigrade"),
        ("c", "degrees c", "degree c"),
        signs="°C ºC ℃",
    ),
    Unit(
        "degree_Fahrenheit",
        "degree Fahrenheit",
        "degrees Fahrenheit",
        ("degree fahrenheit", "degrees fahrenheit", "fahrenheit"),
        ("f", "degrees f", "degree f"),
        signs="°F ºF ℉",
    ),
    Unit("kelvin", "kelvin", "kelvins", ("degrees kelvin",), ("k",)),
    # time
    Unit("millisecond", "millisecond", "milliseconds", typed=("ms",), signs="ms"),
    Unit("second", "second", "seconds", typed=("s", "sec", "secs"), signs="s sec secs"),
    Unit("minute", "minute", "minutes", typed=("min", "mins"), signs="min mins"),
    Unit("hour", "hour", "hours", typed=("h", "hr", "hrs"), signs="h hr hrs"),
    Unit("day", "day", "days"),
    Unit("week", "week", "weeks", signs="wk wks"),
    Unit("fortnight", "fortnight", "fortnights"),
    Unit("month", "month", "months", signs="mo"),
    Unit("year", "year", "years", typed=("yr", "yrs"), signs="yr yrs"),
    Unit("decade", "decade", "decades"),
    Unit("century", "century", "centuries"),
    # speed
    Unit(
        "kilometer/hour",
        "kilometre per hour",
        "kilometres per hour",
        ("kilometer per hour", "kilometers per hour", "kilometres an hour", "kilometers an hour"),
        ("kph", "kmh", "km/h", "km / h"),
        signs="kph",
    ),
    Unit("mile/hour", "mile per hour", "miles per hour", ("miles an hour",), ("mph",), signs="mph"),
    Unit(
        "meter/second",
        "metre per second",
        "metres per second",
        ("meter per second", "meters per second"),
        ("m/s", "m / s", "mps"),
    ),
    Unit("foot/second", "foot per second", "feet per second", typed=("fps", "ft/s", "ft / s")),
    Unit("knot", "knot", "knots", typed=("kt", "kn"), signs="kn"),
    # energy, power, pressure, force, angle
    Unit("joule", "joule", "joules", typed=("j",)),
    Unit("kilojoule", "kilojoule", "kilojoules", typed=("kj",), signs="kJ"),
    Unit("calorie", "small calorie", "small calories", typed=("cal",), signs="cal"),
    Unit(
        "kilocalorie",
        "kilocalorie",
        "kilocalories",
        ("calorie", "calories"),  # on a packet of food a calorie is a kilocalorie
        ("kcal",),
        signs="kcal",
    ),
    Unit("watt_hour", "watt hour", "watt hours", typed=("wh",), signs="Wh"),
    Unit("kilowatt_hour", "kilowatt hour", "kilowatt hours", typed=("kwh",), signs="kWh"),
    Unit("watt", "watt", "watts", typed=("w",), signs="W"),
    Unit("kilowatt", "kilowatt", "kilowatts", typed=("kw",), signs="kW"),
    Unit("horsepower", "horsepower", "horsepower", typed=("hp",), signs="hp", read="horsepower="),
    Unit("pascal", "pascal", "pascals", typed=("pa",), signs="Pa"),
    Unit("kilopascal", "kilopascal", "kilopascals", typed=("kpa",), signs="kPa"),
    Unit("bar", "bar", "bars", signs="bar"),
    Unit(
        "psi",
        "pound per square inch",
        "pounds per square inch",
        typed=("psi",),
        signs="psi",
        read="P-S-I=",
    ),
    Unit("atmosphere", "atmosphere", "atmospheres", typed=("atm",), signs="atm"),
    Unit("newton", "newton", "newtons", typed=("n",), signs="N"),
    Unit("degree", "degree", "degrees", typed=("deg",), signs="° º deg"),
    Unit("radian", "radian", "radians", typed=("rad",)),
    # data
    Unit("bit", "bit", "bits", signs="bit"),
    Unit("byte", "byte", "bytes", typed=("b",)),
    Unit("kilobyte", "kilobyte", "kilobytes", typed=("kb",), signs="KB kB"),
    Unit("megabyte", "megabyte", "megabytes", typed=("mb",), signs="MB"),
    Unit("gigabyte", "gigabyte", "gigabytes", typed=("gb",), signs="GB"),
    Unit("terabyte", "terabyte", "terabytes", typed=("tb",), signs="TB"),
    Unit("gibibyte", "gibibyte", "gibibytes", typed=("gib",), signs="GiB"),
    Unit("megabit", "megabit", "megabits", signs="Mb Mbit"),
    Unit("gigabit", "gigabit", "gigabits", signs="Gb Gbit"),
)

# Signs that are read aloud only: "=" at the end says that the plural is the same.
READ_ONLY = """
fl fluid|ns nanosecond|µs microsecond|μs microsecond|Hz hertz=|kHz kilohertz=|MHz megahertz=
GHz gigahertz=|rpm R-P-M=|fps F-P-S=|bpm B-P-M=|ppm part per million|mpg mile per gallon
dpi D-P-I=|MW megawatt|GW gigawatt|MWh megawatt hour|V volt|mV millivolt|kV kilovolt|mA milliamp
mAh milliamp hour|Ω ohm|kΩ kilohm|kb kilobit|PB petabyte|KiB kibibyte|MiB mebibyte|TiB tebibyte
bps bit per second|kbps kilobit per second|Mbps megabit per second|Gbps gigabit per second
mbps megabit per second|gbps gigabit per second|Tbps terabit per second|KBps kilobyte per second
kBps kilobyte per second|MBps megabyte per second|GBps gigabyte per second
px pixel|MP megapixel|dB decibel|hPa hectopascal|mol mole|°K degree Kelvin|% percent=
‰ per thousand=|mmHg millimeter of mercury|Nm newton meter|lm lumen|µL microliter|μL microliter
µF microfarad|μF microfarad|nF nanofarad|pF picofarad|mM millimolar=|kbit kilobit|M million=
B billion=|bn billion=
"""


def _signs() -> dict[str, str]:
    signs = {sign: unit.american for unit in UNITS for sign in unit.signs.split()}
    entries = (entry.partition(" ") for entry in re.split(r"[|\n]", READ_ONLY.strip()))
    return signs | {sign: name for sign, _, name in entries}


SIGNS: Mapping[str, str] = MappingProxyType(_signs())
"""How a sign beside a number is read, in the singular and as Americans spell it; "=" as above."""
