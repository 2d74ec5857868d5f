package guidon

import (
	"slices"
	"time"
)

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

// Color is the name of a color by which pages distinguish namespaces. The empty one means
// no color. Each name stands for a pair of shades, for light and for dark pages.
type Color string

// The colors.
const (
	Blue   Color = "blue"
	Amber  Color = "amber"
	Teal   Color = "teal"
	Pink   Color = "pink"
	Violet Color = "violet"
	Green  Color = "green"
	Red    Color = "red"
	Slate  Color = "slate"
)

// Colors returns all colors, in the order in which a page offers them.
func Colors() []Color { return []Color{Blue, Amber, Teal, Pink, Violet, Green, Red, Slate} }

// Known reports whether the color is one of the constants, or empty.
func (c Color) Known() bool { return c == "" || slices.Contains(Colors(), c) }

// Revision identifies one state of a namespace, or of the authentications. Number grows
// by one with every committed change and never restarts, not even if a namespace is
// deleted and created again. Stamp is random and written together with the number. A
// database restored from a backup assigns the same numbers again, but not the same
// stamps.
type Revision struct {
	Number int64
	Stamp  int64
}

// Position is the place of a record in the change log of a namespace: the revision that
// the change was committed in, and the record's number within it. Records before it are
// older, records after it newer. The zero Position means none. Flags and segments are
// listed by the position of their creation.
type Position struct {
	Revision int64
	Sequence int32
}
