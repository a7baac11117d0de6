"""What laws and guidance ask for, each an outline in ``templates/*.md.j2``. Aids, never legal advice.

Annex IV of Regulation (EU) 2024/1689, which Regulation (EU) 2026/1744 left as it was: its nine points, and
the letters of points 1 and 2. Colorado Revised Statutes, title 6, article 1, part 17: as enacted by Senate
Bill 24-205 (2024), § 6-1-1703 (3) (a) to (g) has a deployer assess impact; Senate Bill 26-189 (2026) repeals
and reenacts the part from 1 January 2027 without an assessment. Board of Governors of the Federal Reserve
System, Office of the Comptroller of the Currency and Federal Deposit Insurance Corporation, "Revised Guidance
on Model Risk Management" (SR 26-2 / OCC 2026-13, 17 April 2026), which supersedes SR 11-7 / OCC 2011-12 (4
April 2011).
"""
