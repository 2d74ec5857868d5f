// Package flipt holds the messages of the management API and of legacy
// evaluation, as contract 12.1 numbers them.
package flipt
