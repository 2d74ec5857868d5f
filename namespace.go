package guidon

import "time"

// DefaultNamespace is the key of the namespace that an empty key means.
const DefaultNamespace = "default"

// Namespace is a set of flags and segments with a revision of its own.
type Namespace struct {
	Key         string    `json:"key"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Protected   bool      `json:"protected,omitempty"` // deleted only by force
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// NamespaceKey returns the key that a request means: key, or the default
// namespace where it is empty (contract 1.5).
func NamespaceKey(key string) string {
	if key == "" {
		return DefaultNamespace
	}
	return key
}
