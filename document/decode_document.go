package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// versions are the supported format versions, oldest first (contract 13.3).
var versions = []string{"1.0", "1.1", "1.2", "1.3", "1.4", "guidon/1"}

// Versions by their index.
const (
	newestOfFlipt = 4 // of documents that do not state one, and of those without additions
	withAdditions = 5 // which Flipt and earlier releases do not read
)

// readVersion reads the version of the stream, which is in the first document.
func (d *decoder) readVersion(n *node) {
	d.version = newestOfFlipt
	stated := n.member("version")
	if stated == nil || stated.kind == null {
		return
	}
	d.at("version", func() {
		var version string
		asText.read(d, stated, &version)
		minor, known := parseVersion(version)
		if !known {
			d.fail(stated, "unsupported version: %s", version)
		}
		d.version = minor
		if minor == withAdditions {
			d.unknown = RejectUnknown
		}
	})
}

// require fails if the version of the stream does not have the field.
func (d *decoder) require(n *node, field string, minor int) {
	if d.version < minor {
		d.fail(n, "%s is supported in version >=%s, found %s", field, versions[minor], versions[max(0, d.version)])
	}
}

func (d *decoder) readDocument(n *node) *service.Document {
	out := &service.Document{}
	d.object(n, []field{
		always("version", new(string), form[string]{read: func(*decoder, *node, *string) {}}), // read before
		always("namespace", &out.Namespace, asNamespace),
		listOf("flags", &out.Flags, asFlag),
		listOf("segments", &out.Segments, asSegment),
	})
	out.Namespace.Key = guidon.NamespaceKey(out.Namespace.Key)
	return out
}

// asNamespace is the form of namespaces, which may be just the key.
var asNamespace = form[service.DocumentNamespace]{
	read: func(d *decoder, n *node, to *service.DocumentNamespace) {
		if n.kind != object {
			asText.read(d, n, &to.Key)
			return
		}
		d.object(n, namespaceFields(to))
	},
	write: objectOf(namespaceFields).write,
}

func namespaceFields(s *service.DocumentNamespace) []field {
	return []field{
		optional("key", &s.Key, asText),
		optional("name", &s.Name, asText),
		optional("description", &s.Description, asText),
		optional("color", (*string)(&s.Color), asText),
		optional("confirm_changes", &s.ConfirmChanges, pointerTo(asBoolean)),
	}
}
