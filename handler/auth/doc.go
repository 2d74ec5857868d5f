// Package auth has the operations on authentications: static tokens, the caller's own
// authentication, and the methods of signing in. What signs people in is a [SignIn].
package auth
