// Package claims reads the claims that providers make about people and workloads: the
// members of verified JSON web tokens and of userinfo responses. A valid signature does not
// make their JSON unambiguous or small, so the package rejects JSON that parsers read in
// different ways, and limits the rest.
package claims
