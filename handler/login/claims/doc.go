// Package claims reads the claims that providers make about people and workloads: the
// members of JSON web tokens (RFC 7519) and of userinfo responses. It does not verify
// tokens: that is for package keyset. A valid signature does not make their JSON
// unambiguous or small, so the package rejects JSON that parsers read in different ways,
// and limits the rest.
package claims
