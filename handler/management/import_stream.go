package management

import (
	"cmp"
	"fmt"
	"io"
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// DefaultImportMemory is the default limit of the memory of an imported document, in
// bytes.
const DefaultImportMemory = 384 << 20

// InParts is the remedy that errors about the limits of an import suggest.
const InParts = "import it in parts, each in update mode"

// DocumentLimits are the limits of a request with a document: of an import, and of a plan.
var DocumentLimits = call.Limits{Bytes: 256 << 20, Values: 20_000_000}

// maxShortImport is the largest body of an import that is decoded as a whole, in bytes.
// Longer ones could hold so many empty objects that their messages take hundreds of times
// the length of the body.
const maxShortImport = 256 << 10

// LongDocument returns how the long body of a request with a document is decoded: its flags and
// segments are added to a document one by one, so that the whole body is never in memory. The
// document may take so many bytes of memory; 0 means DefaultImportMemory. inParts is the remedy
// that errors about the limits suggest.
func LongDocument(memory int64, inParts string) call.LongBody {
	memory = cmp.Or(memory, DefaultImportMemory)
	return call.LongBody{
		Whole:   maxShortImport,
		TooLong: guidon.Errorf(guidon.TooLarge, "the request body exceeds %d MiB; %s", DocumentLimits.Bytes>>20, inParts),
		Decode: func(body io.Reader, m proto.Message) (any, error) {
			d := &documentReader{limit: memory, inParts: inParts}
			return d.read(body, m.(withDocument))
		},
	}
}

// withDocument is a request with a document.
type withDocument interface {
	proto.Message
	GetDocument() *guidonv1.Document
	GetIgnoreUnknown() bool
}

// read reads a request into m, except for the flags and segments, which are in the
// document that it returns. It returns nil if there is no document.
func (d *documentReader) read(body io.Reader, m withDocument) (any, error) {
	unknown, err := codec.UnmarshalStream(body, m, DocumentLimits.Values, map[string]codec.List{
		"document.flags":    listInto(d, "document.flags", &d.document.Flags, convert.DocumentFlagOf),
		"document.segments": listInto(d, "document.segments", &d.document.Segments, convert.DocumentSegmentOf),
	})
	if unknown = cmp.Or(d.unknown, unknown); err == nil && unknown != nil && !m.GetIgnoreUnknown() {
		err = unknown.Err()
	}
	if err != nil || m.GetDocument() == nil {
		return nil, err
	}
	d.document.Namespace = convert.DocumentNamespaceOf(m.GetDocument().GetNamespace())
	return &d.document, nil
}

// documentReader builds a document from the JSON of its flags and segments.
type documentReader struct {
	document service.Document
	limit    int64
	inParts  string // the remedy for a document that is too large
	taken    int    // bytes that the flags and segments take in memory
	unknown  *codec.UnknownField
}

// listInto returns the list with the name, whose elements become items of the document.
func listInto[M, T any, P interface {
	*M
	proto.Message
}](d *documentReader, name string, items *[]*T, convert func(P) *T) codec.List {
	taken := 0
	return codec.List{
		Reset: func() {
			d.taken -= taken
			*items, taken = nil, 0
		},
		Add: func(element []byte) error {
			m := P(new(M))
			if err := d.decode(element, m, name, len(*items)); err != nil {
				return err
			}
			item := convert(m)
			*items = append(*items, item)
			size := memoryOf(reflect.ValueOf(item))
			taken, d.taken = taken+size, d.taken+size
			if int64(d.taken) > d.limit {
				return d.tooLarge()
			}
			return nil
		},
	}
}

// decode decodes a flag or segment of the list, unless that alone would exceed the memory
// limit of the document.
func (d *documentReader) decode(element []byte, m proto.Message, list string, index int) error {
	if codec.Cost(element) > d.limit {
		return d.tooLarge()
	}
	unknown, err := codec.UnmarshalRequest(element, m, DocumentLimits.Values)
	if unknown != nil && d.unknown == nil {
		unknown.Within(fmt.Sprintf("%s[%d]", list, index))
		d.unknown = unknown
	}
	return err
}

func (d *documentReader) tooLarge() error {
	return guidon.Errorf(guidon.TooLarge, "the document takes more than %d MiB of memory; %s, or give the service more memory (GOMEMLIMIT)",
		d.limit>>20, d.inParts)
}

// What an allocation takes in addition, in bytes: the allocator rounds sizes up.
const (
	roundingOfObject = 40
	roundingOfText   = 24
)

// memoryOf returns how many bytes the value takes in memory besides the variable that holds
// it: everything that it points to, directly or indirectly. Every field counts, by
// reflection, so that a new one is not forgotten.
func memoryOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return roundingOfText + v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			return roundingOfObject + int(v.Type().Elem().Size()) + memoryOf(v.Elem()) // #nosec G115 -- the size of a type
		}
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size()) // #nosec G115 -- the size of a type
		for i := range v.Len() {
			n += memoryOf(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += memoryOf(v.Field(i))
		}
	}
	return n
}
