// Package guidonv1 holds the messages of the operations that are Guidon's own:
// change records, and documents imported and exported as a whole. Its protobuf
// package is guidon.v1.
package guidonv1
