package issuer

// Check is the check of a fetched document.
func CheckDocument(d *Document, c Config) error { return d.check(c) }
