// Package evaluation evaluates flags for the Flipt v1 interface: one flag, batches, the
// legacy calls, and snapshots for clients that evaluate themselves. It reports
// evaluations to an [Observer].
package evaluation
