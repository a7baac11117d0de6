"""Example data: generators with a known truth, one module a set, and the files made from them.

>>> from pathlib import Path
>>> from audits.data import samples
>>> list(samples.CATALOGUE)
['hiring', 'loans', 'law_school', 'arrests', 'admissions']
>>> samples.CATALOGUE["hiring"].files
('hiring.yaml', 'hiring.csv', 'hiring.onnx')
"""

from __future__ import annotations

from audits.data.samples.catalogue import CATALOGUE
from audits.data.samples.sample import ExampleSet
from audits.data.samples.writing import readme, write_samples

__all__ = ["CATALOGUE", "ExampleSet", "readme", "write_samples"]
