"""The settings of a project, the files that it has to check, and its words."""
