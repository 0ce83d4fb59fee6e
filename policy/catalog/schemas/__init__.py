"""JSON Schemas of tools: their fields, their forms for models, and what is wrong with them."""
