// Package flipt has the messages of the management API and of legacy evaluation,
// numbered as in contract 12.1.
package flipt
