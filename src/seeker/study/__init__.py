"""The study: the paper's experiment for people. A target is shown, the search is hidden."""
