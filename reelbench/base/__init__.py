"""What everything stands on: errors, files, text, tables, settings, workers, progress, credentials.

This room imports nothing of Reelbench's, and knows no benchmark, model or command.
"""
