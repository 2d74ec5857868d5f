package handler

import (
	"context"
	"io"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// DefaultImportMemory is the default limit of the memory of an imported document, in
// bytes.
const DefaultImportMemory = 384 << 20

// importedInParts is the remedy that errors about these limits suggest.
const importedInParts = "import it in parts, each in update mode"

var errImportBody = guidon.Errorf(guidon.TooLarge, "the request body exceeds %d MiB; %s", importBodyLimit>>20, importedInParts)

// maxShortImport is the largest body of an import that is decoded as a whole, in bytes.
// Longer ones could hold so many empty objects that their messages take hundreds of times
// the length of the body.
const maxShortImport = 256 << 10

// isLongImport reports whether the body must be decoded while it is read, because it is
// long or of unknown length. An anonymous caller's may not be long.
func (x *exchange) isLongImport(limits Limits) bool {
	length := x.request.ContentLength
	return limits.Bytes > maxShortImport && (length < 0 || length > maxShortImport)
}

// decodeImport reads an import into m, except for its flags and segments. These are
// added to the request's document one by one, so that the whole body is never in memory.
func (x *exchange) decodeImport(ctx context.Context, m *guidonv1.ImportRequest) error {
	if x.request.ContentLength > importBodyLimit {
		x.Header().Set("Connection", "close") // rather than read the rest
		return errImportBody
	}
	if err := x.decoded.Raise(ctx, importBodyLimit); err != nil { // the whole share: one import at a time
		return err
	}
	source := &bodyReader{from: http.MaxBytesReader(x.ResponseWriter, x.request.Body, importBodyLimit)}
	d := &documentReader{limit: x.importMemory}
	err := codec.UnmarshalStream(source, m, importValueLimit, map[string]codec.List{
		"document.flags":    {Reset: d.resetFlags, Add: d.addFlag},
		"document.segments": {Reset: d.resetSegments, Add: d.addSegment},
	})
	switch {
	case source.err != nil && source.err != io.EOF:
		return x.readError(source.err, errImportBody)
	case err != nil:
		return err
	case m.GetDocument() != nil:
		n := m.GetDocument().GetNamespace()
		d.document.Namespace = service.DocumentNamespace{Key: n.GetKey(), Name: n.GetName(), Description: n.GetDescription()}
		x.opRequest.document = &d.document
	}
	return nil
}

// bodyReader records the error of the underlying reader.
type bodyReader struct {
	from io.Reader
	err  error
}

// Read implements [io.Reader].
func (r *bodyReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.err = err
	return n, err
}

// documentReader builds a document from the JSON of its flags and segments.
type documentReader struct {
	document service.Document
	limit    int64
	flags    int // bytes that the flags take in memory
	segments int // bytes that the segments take in memory
}

func (d *documentReader) resetFlags()    { d.document.Flags, d.flags = nil, 0 }
func (d *documentReader) resetSegments() { d.document.Segments, d.segments = nil, 0 }

func (d *documentReader) addFlag(element []byte) error {
	m := new(guidonv1.DocumentFlag)
	if err := d.decode(element, m); err != nil {
		return err
	}
	f := convert.DocumentFlagOf(m)
	d.document.Flags = append(d.document.Flags, f)
	d.flags += sizeOfDocumentFlag(f)
	return d.check()
}

func (d *documentReader) addSegment(element []byte) error {
	m := new(guidonv1.DocumentSegment)
	if err := d.decode(element, m); err != nil {
		return err
	}
	g := convert.DocumentSegmentOf(m)
	d.document.Segments = append(d.document.Segments, g)
	d.segments += sizeOfDocumentSegment(g)
	return d.check()
}

// decode decodes a flag or segment, unless that alone would exceed the memory limit of
// the document.
func (d *documentReader) decode(element []byte, m proto.Message) error {
	if codec.Cost(element) > d.limit {
		return d.tooLarge()
	}
	return codec.Unmarshal(element, m, importValueLimit)
}

func (d *documentReader) check() error {
	if int64(d.flags)+int64(d.segments) > d.limit {
		return d.tooLarge()
	}
	return nil
}

func (d *documentReader) tooLarge() error {
	return guidon.Errorf(guidon.TooLarge, "the document takes more than %d MiB of memory; %s, or give the service more memory (GOMEMLIMIT)",
		d.limit>>20, importedInParts)
}

// The memory of the parts of a document, in bytes: that of each object without its
// strings, and that of each string without its content.
const (
	sizeOfFlag         = 208
	sizeOfVariant      = 112
	sizeOfRule         = 80
	sizeOfDistribution = 40
	sizeOfRollout      = 112
	sizeOfSegment      = 128
	sizeOfConstraint   = 112
	sizeOfText         = 24
)

func sizeOfTexts(texts ...string) int {
	n := sizeOfText * len(texts)
	for _, text := range texts {
		n += len(text)
	}
	return n
}

func sizeOfDocumentFlag(f *service.DocumentFlag) int {
	n := sizeOfFlag + sizeOfTexts(f.Key, f.Name, f.Description, f.Metadata)
	for _, v := range f.Variants {
		n += sizeOfVariant + sizeOfTexts(v.Key, v.Name, v.Description, v.Attachment)
	}
	for _, r := range f.Rules {
		n += sizeOfRule + sizeOfTexts(r.SegmentKeys...)
		for _, d := range r.Distributions {
			n += sizeOfDistribution + sizeOfTexts(d.Variant)
		}
	}
	for _, r := range f.Rollouts {
		if n += sizeOfRollout + sizeOfTexts(r.Description); r.Segment != nil {
			n += sizeOfTexts(r.Segment.SegmentKeys...)
		}
	}
	return n
}

func sizeOfDocumentSegment(g *service.DocumentSegment) int {
	n := sizeOfSegment + sizeOfTexts(g.Key, g.Name, g.Description)
	for _, c := range g.Constraints {
		n += sizeOfConstraint + sizeOfTexts(c.Property, c.Operator, c.Value, c.Description)
	}
	return n
}
