"""What is taken of a column of dates: year, month, weekday, hour, and the time until another date."""

from __future__ import annotations

import pandas as pd

from audits.data.kinds import as_kind
from audits.data.spec import Recode
from audits.data.values import TEXT
from audits.errors import InputError

_LASTS = {"days", "years"}


def date_part(frame: pd.DataFrame, source: str, recode: Recode, where: str) -> pd.Series:
    """Return what a recode takes of the dates in column `source`, (n,); missing where a date is.

    Examples
    --------
    >>> dates = pd.DataFrame({"born": pd.to_datetime(["1990-05-20", None])})
    >>> date_part(dates, "born", Recode({}, take="years", until="2024-05-19"), "data.recode.age").tolist()
    [33.0, nan]
    >>> date_part(dates, "born", Recode({}, take="weekday"), "data.recode.day").tolist()
    ['Sunday', nan]

    Raises
    ------
    InputError
        If the column holds no dates, or `until` is lacking, of no use, or neither a column nor a date.
    """
    if recode.mapping or recode.where or recode.rows:
        raise InputError(where, "must have either a map, a rule for who belongs to the group, or take")
    dates = as_kind(frame[source], "datetime", f"{where}.from").dt
    if recode.take not in _LASTS:
        if recode.until is not None:
            raise InputError(f"{where}.until", "only applies with take: days or years")
        if recode.take in {"weekday", "month"}:
            return (dates.day_name() if recode.take == "weekday" else dates.month_name()).astype(TEXT)
        return getattr(dates, str(recode.take)).astype("Int64").astype(float)
    end = _end(frame, recode.until, f"{where}.until")
    if recode.take == "days":
        return (end - frame[source]).dt.days.astype(float)
    before = (end.dt.month < dates.month) | ((end.dt.month == dates.month) & (end.dt.day < dates.day))
    return (end.dt.year - dates.year - before).astype(float).where(frame[source].notna() & end.notna())


def _end(frame: pd.DataFrame, until: str | None, where: str) -> pd.Series:
    if until is None:
        raise InputError(where, "must name a column of dates or a date such as 2024-12-31")
    if until in frame.columns:
        return as_kind(frame[until], "datetime", where)
    try:
        return pd.Series(pd.Timestamp(until), index=frame.index)
    except ValueError:
        raise InputError(where, "must name a column of dates or a date such as 2024-12-31", until) from None
