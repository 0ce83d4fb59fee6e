"""The layers of the tool service, one module each; `service/builder.py` puts them in order."""
