package convert

import "github.com/guidonhq/guidon"

// InNamespace is a request with a namespace key.
type InNamespace interface{ GetNamespaceKey() string }

// NamespaceOf returns the namespace of the request: without a key, the default one.
func NamespaceOf(m InNamespace) string { return guidon.NamespaceKey(m.GetNamespaceKey()) }

// OfFlag is a request with the key of a flag.
type OfFlag interface {
	InNamespace
	GetFlagKey() string
}
