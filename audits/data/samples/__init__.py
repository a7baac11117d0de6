"""Example data: invented people of whom the truth is known, with the specs and models that audit them.

`benchmarks.samples` makes the files; ``sample_data/README.md`` says what is true of them.

>>> from audits.data import samples
>>> list(samples.CATALOGUE)
['hiring', 'loans', 'law_school', 'arrests', 'admissions']
>>> samples.CATALOGUE["hiring"].files
('hiring.yaml', 'hiring.csv', 'hiring.onnx')
"""

from __future__ import annotations

from audits.data.samples.catalogue import CATALOGUE, ExampleSet, write_samples

__all__ = ["CATALOGUE", "ExampleSet", "write_samples"]
