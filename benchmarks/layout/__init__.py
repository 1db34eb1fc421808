"""Records and planes: programs whose arrays are kept in one layout or another while a loop runs."""
