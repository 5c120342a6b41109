pkginclude_HEADERS = src/api/runnel/module.h
