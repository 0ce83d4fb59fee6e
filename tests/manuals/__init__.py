"""What manuals say of options, beside what profiles know of them."""
