// Package issuer has what the issuer of tokens publishes, and what its tokens say.
//
//   - Discovery: the documents in which OpenID providers and Kubernetes API servers publish
//     their endpoints (OpenID Connect Discovery 1.0).
//   - Keys: a [KeySet] verifies signatures of JSON web tokens. It verifies the signature only:
//     the claims are for its callers to check.
//   - Claims: the members of tokens (RFC 7519) and of userinfo responses. A valid signature
//     does not make their JSON unambiguous or small, so JSON that parsers read in different
//     ways is rejected, and the rest is limited.
package issuer
