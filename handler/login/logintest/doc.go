// Package logintest has providers and an API server of Kubernetes for tests, which run on
// a loopback address and misbehave on command, and keys that sign tokens.
package logintest
