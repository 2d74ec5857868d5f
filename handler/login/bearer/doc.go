// Package bearer verifies JSON web tokens that callers present as credentials. Nothing is
// stored about them, so a token is valid until it expires or its key is withdrawn.
package bearer
