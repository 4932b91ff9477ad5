"""The ground floor: errors, files, text, tables, settings, workers, progress and credentials.

This room imports nothing of Reelbench's, and knows no benchmark, model or command.
"""
