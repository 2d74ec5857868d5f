package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Contract 13.2 defines the order of the members, and which ones are omitted.

// document writes the document with the version, if there is one, up to the first object that
// the format cannot represent.
func (e *encoder) document(to sink, d *service.Document, version string) error {
	n := &node{kind: object}
	n.addText("version", version)
	namespace := &node{kind: object}
	namespace.addText("key", guidon.NamespaceKey(d.Namespace.Key))
	namespace.addText("name", d.Namespace.Name)
	namespace.addText("description", d.Namespace.Description)
	namespace.addText("color", string(d.Namespace.Color))
	if c := d.Namespace.ConfirmChanges; c != nil {
		namespace.add("confirm_changes", booleanNode(*c))
	}
	n.add("namespace", namespace)
	if err := to.head(n); err != nil {
		return err
	}
	if err := writeItems(e, to, "flags", d.Flags, e.flag); err != nil {
		return err
	}
	if err := writeItems(e, to, "segments", d.Segments, e.segment); err != nil {
		return err
	}
	return to.end()
}

func writeItems[T any](e *encoder, to sink, list string, items []T, each func(T) *node) error {
	for _, item := range items {
		n := each(item)
		if e.err != nil {
			return nil // Encode returns e.err
		}
		if err := to.item(list, n); err != nil {
			return err
		}
	}
	return nil
}
