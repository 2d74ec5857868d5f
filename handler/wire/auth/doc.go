// Package auth holds the messages of authentication, as contract 12.3 numbers
// them. The code-host method keeps its number and its service under the wire
// protocol's name; only the enum value carries ours.
package auth
