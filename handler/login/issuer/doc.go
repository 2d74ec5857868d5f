// Package issuer has what the issuer of tokens publishes, and what its tokens say.
//
//   - Discovery: the documents in which OpenID providers and Kubernetes API servers publish
//     their endpoints (OpenID Connect Discovery 1.0).
//   - Keys: a [KeySet] verifies signatures of JSON web tokens by golang-jwt. It verifies form, header and
//     signature only: the claims are for its callers to check.
//   - Claims: the members of tokens (RFC 7519) and of userinfo responses. A valid signature does not make
//     them small or of the right type.
package issuer
