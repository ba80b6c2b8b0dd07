"""The front door: command line and report pages; thin, it calls the rooms."""
