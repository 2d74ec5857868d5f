// Package oidc signs people in with an OpenID provider: the authorization code flow with
// PKCE (OpenID Connect Core 1.0), and back-channel and RP-initiated logout. It has no
// state but the published documents of the provider: the state of an attempt is in package
// loginstate, and its callers manage sessions.
//
// Its errors have the code Unauthenticated if a response or token proves no identity,
// PermissionDenied if the provider leaves out the groups that decide, Unavailable if it
// cannot be used now, and Internal if it rejects our own credentials. Only logs may
// contain their causes, which have no secrets.
package oidc
