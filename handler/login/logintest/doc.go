// Package logintest has providers for tests, which run on a loopback address and
// misbehave on command, and keys that sign tokens.
package logintest
