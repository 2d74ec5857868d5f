package issuer

// Check is the check of a fetched document.
func CheckDocument(d *Document, c DiscoveryConfig) error { return d.check(c) }
