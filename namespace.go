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
	Color       Color     `json:"color,omitempty"`     // pages show it wherever they name the namespace
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`

	// ConfirmChanges makes pages ask for the key of the namespace before a change that
	// affects all users at once, such as turning a flag off. It restricts no API.
	ConfirmChanges bool `json:"confirmChanges,omitempty"`
}

// NamespaceKey returns key, or [DefaultNamespace] if it is empty (contract 1.5).
func NamespaceKey(key string) string {
	if key == "" {
		return DefaultNamespace
	}
	return key
}
