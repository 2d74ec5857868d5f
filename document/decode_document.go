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
		d.text(&version)(stated)
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
	d.object(n, fields{
		"version":   func(*node) {}, // read before
		"namespace": func(n *node) { d.namespace(n, &out.Namespace) },
		"flags":     d.list(func(n *node) { out.Flags = append(out.Flags, d.flag(n)) }),
		"segments":  d.list(func(n *node) { out.Segments = append(out.Segments, d.segment(n)) }),
	})
	out.Namespace.Key = guidon.NamespaceKey(out.Namespace.Key)
	return out
}

// readItem reads one flag or segment into the document.
func (d *decoder) readItem(to *service.Document, list string, index int, item *node) {
	d.at(list, func() {
		d.item(list, index, item, func(n *node) {
			if list == "flags" {
				to.Flags = append(to.Flags, d.flag(n))
			} else {
				to.Segments = append(to.Segments, d.segment(n))
			}
		})
	})
}

func (d *decoder) namespace(n *node, to *service.DocumentNamespace) {
	if n.kind != object {
		d.text(&to.Key)(n)
		return
	}
	d.object(n, fields{
		"key": d.text(&to.Key), "name": d.text(&to.Name), "description": d.text(&to.Description),
		"color": func(n *node) {
			var color string
			d.text(&color)(n)
			to.Color = guidon.Color(color)
		},
		"confirm_changes": func(n *node) {
			if n.kind == null {
				to.ConfirmChanges = nil
				return
			}
			to.ConfirmChanges = new(bool)
			d.boolean(to.ConfirmChanges)(n)
		},
	})
}
