// Package keyset verifies signatures of JSON web tokens with the public keys of the
// party that issues them. A [Set] serves both go-oidc, as its KeySet, and golang-jwt, by
// a Keyfunc. It verifies the signature only: the claims are for its callers to check.
package keyset
