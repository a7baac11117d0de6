"""What audits learned of people drawn by lot, stated of everybody in a table: a module an audit.

Each is a fold over batches of rows, whose records name it (`audits.records.Audit.folds`).
"""
