"""The numbered steps that bring a study's tables to the present version; see seeker.stores."""
