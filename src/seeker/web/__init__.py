"""The web page: HTML, CSS and JavaScript modules, served as they are."""
