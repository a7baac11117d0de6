from .audit_data import AuditData, group_name, named_with
from .building.building import build_data
from .describing import describe
from .files.reading import FORMATS, Limits, ReadOptions, ReadReport, Table, read_table
from .kinds import KINDS, ROLES, Kind, Role, infer_kinds
from .loading import load_data
from .parsing import data_spec
from .public import PUBLIC, public_section
from .space import FeatureSpace
from .spec import DataSpec, Keep, LabelCut, Recode, check_spec

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
    "named_with",
    "public_section",
    "read_table",
]
