from .audit_data import AuditData, group_name, named_with
from .description import describe
from .encoder import FeatureSpace
from .io.reader import FORMATS, Limits, ReadOptions, ReadReport, Table, read_table
from .kinds import KINDS, ROLES, Kind, Role, infer_kinds
from .loader import load_data
from .preprocessing.build import build_data
from .public import PUBLIC, public_section
from .spec import DataSpec, Keep, LabelCut, NumericOutcome, Recode, check_spec
from .spec_parser import data_spec

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
    "NumericOutcome",
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
    "named_with",
    "public_section",
    "read_table",
]
