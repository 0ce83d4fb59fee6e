"""Names in a policy: scopes, sets, tool selectors, and what each reference stands for."""
