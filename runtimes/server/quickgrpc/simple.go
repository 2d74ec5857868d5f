//go:build simple

package quickgrpc

// Enabled reports whether the fast paths are used. The build tag simple disables them.
const Enabled = false
