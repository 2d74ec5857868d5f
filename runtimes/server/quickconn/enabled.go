//go:build !simple

package quickconn

// Enabled reports whether the package saves anything. The build tag simple disables it.
const Enabled = true
