package guidon

import "time"

// DefaultNamespace is the key that an empty namespace key stands for.
const DefaultNamespace = "default"

// Namespace is a set of flags and segments with its own revision.
type Namespace struct {
	Key         string    `json:"key"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Protected   bool      `json:"protected,omitempty"` // deleted only with force
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// NamespaceKey returns key, or [DefaultNamespace] if it is empty (contract 1.5).
func NamespaceKey(key string) string {
	if key == "" {
		return DefaultNamespace
	}
	return key
}
