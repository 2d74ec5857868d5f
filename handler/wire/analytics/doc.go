// Package analytics holds the messages of evaluation counts, as contract 12.6
// numbers them.
package analytics
