// Package loginstate keeps the state of one attempt to sign in, from the redirect to the
// provider to the callback, in a sealed cookie of that attempt. So no instance keeps
// anything, any instance can continue, and attempts in several tabs do not disturb each
// other. That an attempt is used once is for the transaction that makes the session.
package loginstate
