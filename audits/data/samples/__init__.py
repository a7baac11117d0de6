"""Example data: invented people with a known truth, and the specs and models to audit them.

`benchmarks.samples` makes the files; ``sample_data/README.md`` says what is true of them.

>>> from audits.data import samples
>>> list(samples.CATALOG)
['hiring', 'loans', 'law_school', 'arrests', 'admissions']
>>> samples.CATALOG["hiring"].files
('hiring.yaml', 'hiring.csv', 'hiring.onnx')
"""

from __future__ import annotations

from audits.data.samples.catalog import CATALOG, ExampleSet, write_samples

__all__ = ["CATALOG", "ExampleSet", "write_samples"]
