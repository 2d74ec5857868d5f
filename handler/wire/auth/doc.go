// Package auth has the messages of authentication, numbered as in contract 12.3. The
// code-host method keeps its number and the service name of Flipt v1; only the name of
// the enum value is different.
package auth
