"""Reports in the shape that laws and supervisors ask evidence in; each a module. Aids, never legal advice."""
