"""Programs that were written without a look at the recipe, and measured before anything was changed for one of them."""
