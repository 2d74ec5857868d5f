package discovery

// Check is the check of a fetched document.
func Check(d *Document, c Config) error { return d.check(c) }
