package convert

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// InNamespace is a request with a namespace key.
type InNamespace interface{ GetNamespaceKey() string }

// NamespaceOf returns the namespace of the request: without a key, the default one.
func NamespaceOf(m InNamespace) string { return guidon.NamespaceKey(m.GetNamespaceKey()) }

// OfFlag is a request with the key of a flag.
type OfFlag interface {
	InNamespace
	GetFlagKey() string
}

// WithMessage returns w with the message for the change records that the request has. If the
// request has none, w keeps that of the header.
func WithMessage(w service.Write, m interface{ GetMessage() string }) service.Write {
	if message := m.GetMessage(); message != "" {
		w.Message = message
	}
	return w
}

// MaxPage limits a page of a list, in bytes: gRPC clients accept 4 MiB by default. A
// page with a single object may be larger.
const MaxPage = 3 << 20

// Fitting returns how many of the items fit into one page, and their total weight. It is
// at least one item, so that clients always make progress.
func Fitting[T any](items []T, weigh func(T) int) (n, weight int) {
	for _, item := range items {
		more := weigh(item)
		if n > 0 && weight+more > MaxPage {
			break
		}
		n, weight = n+1, weight+more
	}
	return n, weight
}

// Windowed is a request for a part of a list.
type Windowed interface {
	GetOffset() int32
	GetLimit() int32
}

// Window returns the part of the list that the request is for.
func Window(m Windowed) service.Window {
	return service.Window{Offset: m.GetOffset(), Limit: m.GetLimit()}
}

// NextOffset returns the offset of the next part, or nil if there is none.
func NextOffset(m Windowed, total int) *int32 {
	if next, more := Window(m).Next(total); more {
		return new(Count(next))
	}
	return nil
}
