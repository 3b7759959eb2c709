// A library made of archives alone still needs one source.
