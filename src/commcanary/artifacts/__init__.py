"""What is stored: typed headers, Arrow tables, two containers, content ids, atomic writes. Knows no stage."""
