"""What kinds of report there are: the name of each on the command line, and what it is."""

from __future__ import annotations

from typing import Literal

Template = Literal["full", "executive", "comparison", "ll144", "annex4", "four_fifths", "colorado", "sr_11_7"]

TEMPLATES: dict[Template, str] = {
    "full": "Full technical report",
    "executive": "Summary for executives (two pages)",
    "comparison": "A second model compared with the first",
    "ll144": "Tables required by New York City's Local Law 144",
    "four_fifths": "Four-fifths rule of the US Uniform Guidelines",
    "annex4": "Outline of evidence for Annex IV of the EU AI Act",
    "colorado": "Colorado: impact assessment of 2024, and what 2027 requires instead",
    "sr_11_7": "Validation notes in the style of SR 11-7 and SR 26-2",
}

BY_CATEGORY: tuple[Template, ...] = ("ll144", "four_fifths")
"""Templates that need the columns of sex and of race or ethnicity."""

SMALL_SHARE = 0.02
"""Share of people below which these may leave a category out of the impact ratios."""
