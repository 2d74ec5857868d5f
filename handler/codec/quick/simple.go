//go:build simple

package quick

// Enabled reports whether the fast paths are used. The build tag simple disables them.
const Enabled = false
