"""Rules, conditions and reasons in sentences, for models and for people."""
