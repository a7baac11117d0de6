"""Tables in: reading, kinds, the audited rows, and their numeric space."""

from __future__ import annotations

from audits.data.audit_data import AuditData, group_name
from audits.data.building import build_data
from audits.data.describing import describe
from audits.data.kinds import KINDS, ROLES, Kind, Role, infer_kinds
from audits.data.loading import load_data
from audits.data.public import PUBLIC, public_section
from audits.data.reading import FORMATS, Limits, ReadOptions, ReadReport, Table, read_table
from audits.data.space import FeatureSpace
from audits.data.spec import DataSpec, Keep, LabelCut, Recode, check_spec, data_spec

__all__ = [
    "FORMATS",
    "KINDS",
    "PUBLIC",
    "ROLES",
    "AuditData",
    "DataSpec",
    "FeatureSpace",
    "Keep",
    "Kind",
    "LabelCut",
    "Limits",
    "ReadOptions",
    "ReadReport",
    "Recode",
    "Role",
    "Table",
    "build_data",
    "check_spec",
    "data_spec",
    "describe",
    "group_name",
    "infer_kinds",
    "load_data",
    "public_section",
    "read_table",
]
