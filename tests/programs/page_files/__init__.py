"""Makes the stylesheets and scripts of pages: ``make assets``."""
