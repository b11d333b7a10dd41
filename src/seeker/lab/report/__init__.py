"""Reports: one self-contained page about runs, with figures and strips of pages."""
