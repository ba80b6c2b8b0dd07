"""The claims of the paper and the results of the project, one module for each section; each has ``claims()``."""
