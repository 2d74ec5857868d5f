// Package claimset reads the claims of JSON web tokens (RFC 7519 section 4). It does not
// verify tokens: that is for package keyset.
package claimset
