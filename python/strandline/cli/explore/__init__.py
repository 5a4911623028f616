"""`strandline explore`: a local page that runs commands and shows what they found."""
