// Package claims reads the claims that providers make about people and workloads: the
// members of verified JSON web tokens and of userinfo responses. Whoever signs a token
// is trusted to vouch for its subjects, not to write JSON that all parsers read alike, so
// the package rejects what is ambiguous and limits the rest.
package claims
