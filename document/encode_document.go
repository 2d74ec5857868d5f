package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// document writes the document with the version, if there is one, up to the first object that
// the format cannot represent.
func (e *encoder) document(to sink, d *service.Document, version string) error {
	namespace := d.Namespace
	namespace.Key = guidon.NamespaceKey(namespace.Key)
	n := e.object([]field{optional("version", &version, asText), always("namespace", &namespace, asNamespace)})
	if err := to.head(n); err != nil {
		return err
	}
	if err := writeItems(e, to, "flags", d.Flags, asFlag); err != nil {
		return err
	}
	if err := writeItems(e, to, "segments", d.Segments, asSegment); err != nil {
		return err
	}
	return to.end()
}

func writeItems[T any](e *encoder, to sink, list string, items []T, as form[T]) error {
	for i := range items {
		n := as.write(e, &items[i])
		if e.err != nil {
			return nil // Encode returns e.err
		}
		if err := to.item(list, n); err != nil {
			return err
		}
	}
	return nil
}
