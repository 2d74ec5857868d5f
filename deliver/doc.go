// Package deliver sends what is in the change log to receivers outside. Each receiver is a [Target] with a
// reader of the log, so there is neither a queue nor a second copy of the records. One process at a time, which
// holds a lease, delivers: in the order of each namespace, and each record at least once.
//
// What webhooks send, and how, is in deliver/webhook; the audit sinks are in deliver/audit.
package deliver
