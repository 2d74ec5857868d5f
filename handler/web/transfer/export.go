package transfer

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// The fields of an export.
const (
	fieldDownload  = "download"
	fieldSort      = "sort"
	fieldFlag      = "flag"
	fieldNamespace = "namespace"
)

// Limits of an export.
const (
	maxExport   = 64 << 20 // bytes of the messages that are written
	maxSelected = 1000     // flags
	costOfByte  = 3        // bytes of memory for each of a message
)

// formats are the formats of files, by the name in addresses, with their content types.
var formats = map[string]struct {
	format document.Format
	media  string
}{
	"yaml": {document.YAML, "application/yaml"},
	"json": {document.JSON, "application/json"},
}

// showExport is the page that exports the namespace, and the download itself.
func showExport(v *page.Visit) error {
	q := v.Query()
	if len(q[fieldFlag]) > maxSelected {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field flag: must not contain more than %d elements", maxSelected)
	}
	if q.Get(fieldDownload) == "" {
		return v.Reply(http.StatusOK, page.Page{
			Title: "Export", Place: page.PlaceFlags, Main: exportMain(v, q[fieldFlag]),
			Crumbs: []page.Crumb{{Text: "Flags", Address: v.In("flags")}, {Text: "Export"}},
		})
	}
	return download(v, v.Key(), []string{v.Key()}, q[fieldFlag])
}

// download responds with the namespaces as a file. With flags, only these are in it, and the
// segments that they need.
func download(v *page.Visit, name string, namespaces, flags []string) error {
	q := v.Query()
	f, ok := formats[q.Get(fieldDownload)]
	if !ok {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field download: must be yaml or json")
	}
	documents, err := exported(v, namespaces, sorted(q), flags)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := document.Encode(&out, f.format, documents); err != nil {
		return err
	}
	v.Header().Set("Content-Disposition", `attachment; filename="`+name+"."+q.Get(fieldDownload)+`"`) // keys have no quotes
	v.Exchange.Reply(http.StatusOK, f.media, out.Bytes())
	return nil
}

// sorted reports whether everything is sorted by key.
func sorted(q url.Values) bool { return q.Get(fieldSort) != "" && q.Get(fieldSort) != "created" }

// exported returns the documents of the namespaces.
func exported(v *page.Visit, namespaces []string, sort bool, flags []string) (documents []*service.Document, err error) {
	if sort {
		namespaces = slices.Sorted(slices.Values(namespaces))
	}
	size := 0
	for _, key := range namespaces {
		m, err := page.ExportDocument.Run(v, &guidonv1.ExportRequest{NamespaceKey: key, SortByKey: sort})
		if err != nil {
			return nil, err
		}
		if size += proto.Size(m); size > maxExport {
			return nil, &page.Error{
				Heading: "This is too much for one download", Text: "Export it on the command line: guidon export. It has no limit.",
				Err: guidon.Errorf(guidon.TooLarge, "the export exceeds %d MiB", maxExport>>20),
			}
		}
		if err := v.Call.Memory.Raise(v.Request.Context(), int64(size)*costOfByte); err != nil {
			return nil, err
		}
		if len(flags) > 0 {
			if err := selectFlags(m, flags); err != nil {
				return nil, err
			}
		}
		documents = append(documents, convert.DocumentOfTaken(m))
	}
	return documents, nil
}

// selectFlags leaves only the flags in the document, and the segments that they need.
func selectFlags(m *guidonv1.Document, keys []string) error {
	selected, needed := make(map[string]bool), make(map[string]bool)
	for _, key := range keys {
		selected[key] = true
	}
	m.Flags = slices.DeleteFunc(m.GetFlags(), func(f *guidonv1.DocumentFlag) bool { return !selected[f.GetKey()] })
	for _, f := range m.GetFlags() {
		delete(selected, f.GetKey())
		for _, key := range page.SegmentKeys(f) {
			needed[key] = true
		}
	}
	for _, key := range keys {
		if selected[key] {
			return guidon.Errorf(guidon.NotFound, "flag %q not found", page.Printable(key, maxExcerpt))
		}
	}
	m.Segments = slices.DeleteFunc(m.GetSegments(), func(g *guidonv1.DocumentSegment) bool { return !needed[g.GetKey()] })
	return nil
}
