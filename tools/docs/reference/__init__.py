"""Pages of the site that are generated where a source exists: they are no files of the repository."""
