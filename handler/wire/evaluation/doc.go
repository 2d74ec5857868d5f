// Package evaluation has the messages of evaluation and of the snapshots that
// client-side evaluators download, numbered as in contract 12.2.
package evaluation
