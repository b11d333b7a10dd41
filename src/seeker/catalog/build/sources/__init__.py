"""Sources of items: folders, tables, arrays, databases."""
