"""Ready `data` sections for well-known public fairness data sets, as their authors publish the files.

Each returns plain data that a spec file could hold. The column names of files without a header are
from their documentation: UCI "Adult" (Kohavi and Becker 1996), UCI "Communities and Crime" (Redmond
2009). Filters are the usual ones: for COMPAS those of ProPublica's analysis (Larson et al. 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from audits.checks import one_of

__all__ = ["PUBLIC", "public_section"]


def _words(text: str) -> list[str]:
    return text.split()


_ADULT = _words("""
    age workclass fnlwgt education education-num marital-status occupation relationship race sex
    capital-gain capital-loss hours-per-week native-country income
""")
_COMMUNITIES = _words("""
    state county community communityname fold population householdsize racepctblack racePctWhite
    racePctAsian racePctHisp agePct12t21 agePct12t29 agePct16t24 agePct65up numbUrban pctUrban medIncome
    pctWWage pctWFarmSelf pctWInvInc pctWSocSec pctWPubAsst pctWRetire medFamInc perCapInc whitePerCap
    blackPerCap indianPerCap AsianPerCap OtherPerCap HispPerCap NumUnderPov PctPopUnderPov
    PctLess9thGrade PctNotHSGrad PctBSorMore PctUnemployed PctEmploy PctEmplManu PctEmplProfServ
    PctOccupManu PctOccupMgmtProf MalePctDivorce MalePctNevMarr FemalePctDiv TotalPctDiv PersPerFam
    PctFam2Par PctKids2Par PctYoungKids2Par PctTeen2Par PctWorkMomYoungKids PctWorkMom NumIlleg PctIlleg
    NumImmig PctImmigRecent PctImmigRec5 PctImmigRec8 PctImmigRec10 PctRecentImmig PctRecImmig5
    PctRecImmig8 PctRecImmig10 PctSpeakEnglOnly PctNotSpeakEnglWell PctLargHouseFam PctLargHouseOccup
    PersPerOccupHous PersPerOwnOccHous PersPerRentOccHous PctPersOwnOccup PctPersDenseHous
    PctHousLess3BR MedNumBR HousVacant PctHousOccup PctHousOwnOcc PctVacantBoarded PctVacMore6Mos
    MedYrHousBuilt PctHousNoPhone PctWOFullPlumb OwnOccLowQuart OwnOccMedVal OwnOccHiQuart RentLowQ
    RentMedian RentHighQ MedRent MedRentPctHousInc MedOwnCostPctInc MedOwnCostPctIncNoMtg NumInShelters
    NumStreet PctForeignBorn PctBornSameState PctSameHouse85 PctSameCity85 PctSameState85 LemasSwornFT
    LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop
    PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp
    PctPolicAsian PctPolicMinor OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked LandArea PopDens
    PctUsePubTrans PolicCars PolicOperBudg LemasPctPolicOnPatr LemasGangUnitDeploy LemasPctOfficDrugUn
    PolicBudgPerPop ViolentCrimesPerPop
""")
# Police columns: reported by 319 of 1,994 communities only
_POLICE = _words("""
    LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop
    PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian
    PctPolicMinor OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked PolicCars PolicOperBudg
    LemasPctPolicOnPatr LemasGangUnitDeploy PolicBudgPerPop
""")


def public_section(name: str, folder: Path | str) -> dict[str, Any]:
    """Return the `data` section that reads a public data set from its files in `folder`.

    Parameters
    ----------
    name : {"adult", "bank", "communities", "compas", "german", "law_school"}
        Which one.
    folder : path
        Where the files lie, under the names they are published with.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> public_section("law_school", "data")["favorable"]
    1
    """
    one_of("data set", name, PUBLIC)
    section = PUBLIC[name]()
    files = section["path"]
    section["path"] = (
        [str(Path(folder) / file) for file in files] if isinstance(files, list) else str(Path(folder) / files)
    )
    return section


def _compas() -> dict[str, Any]:
    return {
        "path": "compas.csv",
        "keep": [
            {"column": "days_b_screening_arrest", "between": [-30, 30]},
            {"column": "is_recid", "not_in": [-1]},
            {"column": "c_charge_degree", "not_in": ["O"]},
            {"column": "score_text", "not_missing": True},
        ],
        "label": "two_year_recid",
        "favorable": 0,
        "protected": ["race", "sex"],
        "features": [
            "age",
            "juv_fel_count",
            "juv_misd_count",
            "juv_other_count",
            "priors_count",
            "c_charge_degree",
        ],
    }


def _adult() -> dict[str, Any]:
    """Both files; the second has a line that is no data, and labels that end in a dot."""
    return {
        "path": ["adult.data", "adult.test"],
        "format": "csv",
        "read": {"header": False, "names": list(_ADULT)},
        "recode": {"income": {"map": {"<=50K.": "<=50K", ">50K.": ">50K"}}},
        "label": "income",
        "favorable": ">50K",
        "protected": ["sex", "race"],
        # fnlwgt is how many people the census thinks a row stands for, not an attribute of a person
        "features": [each for each in _ADULT if each not in {"fnlwgt", "sex", "race", "income"}],
    }


def _german() -> dict[str, Any]:
    """Sex hides in personal_status (A92 female, the others male); 1 is good credit, 2 bad."""
    return {
        "path": "german.csv",
        "recode": {
            "sex": {
                "from": "personal_status",
                "map": {"A91": "male", "A92": "female", "A93": "male", "A94": "male"},
            }
        },
        "label": "credit",
        "favorable": 1,
        "protected": ["sex", "age"],
        "bins": {"age": [18, 25, 76]},
        "features": _words("""
            status month credit_history purpose credit_amount savings employment
            investment_as_income_percentage other_debtors residence_since property installment_plans
            housing number_of_credits skill_level people_liable_for telephone
        """),
    }


def _law_school() -> dict[str, Any]:
    return {
        "path": "law_school.csv",
        "recode": {"sex": {"map": {1: "female", 2: "male"}}},
        "label": "first_pf",
        "favorable": 1,
        "protected": ["race", "sex"],
        "features": ["LSAT", "UGPA"],
    }


def _communities() -> dict[str, Any]:
    """A row is a community; the label says whether its crime rate lies in the lower half."""
    apart = {*_COMMUNITIES[:5], *_COMMUNITIES[7:11], *_POLICE, "ViolentCrimesPerPop"}
    return {
        "path": "communities.data",
        "format": "csv",
        "read": {"header": False, "names": list(_COMMUNITIES)},
        "label": {"column": "ViolentCrimesPerPop", "at_most": 0.15},
        "protected": ["racepctblack", "racePctWhite"],
        "bins": {"racepctblack": [0, 0.1, 0.3, 1], "racePctWhite": [0, 0.5, 0.8, 1]},
        "features": [each for each in _COMMUNITIES if each not in apart],
    }


def _bank() -> dict[str, Any]:
    """Without `duration`: the length of the call is known only once its outcome is."""
    return {
        "path": "bank-full.csv.gz",
        "label": "y",
        "favorable": "yes",
        "protected": ["age", "marital"],
        "bins": {"age": [18, 25, 60, 95]},
        "features": _words("""
            job education default balance housing loan contact day month campaign pdays previous poutcome
        """),
    }


PUBLIC: dict[str, Callable[[], dict[str, Any]]] = {
    "adult": _adult,
    "bank": _bank,
    "communities": _communities,
    "compas": _compas,
    "german": _german,
    "law_school": _law_school,
}
