"""The tests, with what they share: golden cases, fakes and the reference evaluator."""
