// Package convert converts between the objects of the service and wire messages: values
// that many messages have in common, results, and documents. Functions whose names end in
// Of, and Enum, Instant and JSON, convert from messages; the others to them.
package convert
