// Package evaluation holds the messages of evaluation and of the snapshot that
// client-side evaluators download, as contract 12.2 numbers them.
package evaluation
