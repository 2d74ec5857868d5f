package rediscache

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"strings"

	"github.com/guidonhq/guidon"
)

// maxSnapshotSize limits the size of a snapshot in Redis, in bytes. A larger one is
// only in the database.
const maxSnapshotSize = 8 << 20

// getSnapshot returns the snapshot of the namespace at the revision, or nil and whether
// the caller should store it. A value that is damaged, or was not stored by the
// service, counts as none.
func (s *Source) getSnapshot(ctx context.Context, namespace string, revision guidon.Revision) (snapshot *guidon.Snapshot, wanted bool) {
	answers, err := s.runScript(ctx, getSnapshotScript, run{[]string{s.snapshotKey(namespace)},
		[]any{formatRevision(revision), milliseconds(snapshotTTL), milliseconds(claimTTL)}})
	if err != nil {
		return nil, false
	}
	if snapshot = decode(answers[0], namespace, revision); snapshot != nil {
		s.stats.snapshots.hits.Add(1)
		return snapshot, false
	}
	s.stats.snapshots.misses.Add(1)
	return nil, answers[0] != ""
}

// putSnapshot stores the snapshot in Redis, if possible.
func (s *Source) putSnapshot(ctx context.Context, snapshot *guidon.Snapshot) {
	text, err := encode(snapshot)
	if err != nil || len(text) > maxSnapshotSize {
		return // the claim of getSnapshot keeps others from trying for a while
	}
	// Without the snapshot in Redis, others load it from the database.
	_, _ = s.runScript(ctx, putSnapshotScript, run{[]string{s.snapshotKey(snapshot.Namespace().Key)},
		[]any{formatRevision(snapshot.Revision()), text, milliseconds(snapshotTTL)}})
}

// A snapshot in Redis is one byte for the format, four for the checksum of the rest,
// and JSON. Compression at the fastest level reduces it to a seventh. Decompression
// adds a quarter to the time of parsing.
const (
	formatPlain      = 0x01
	formatCompressed = 0x02

	headerSize = 5
	// compressFrom is the size from which compression is worth the work.
	compressFrom = 4 << 10
	// maxDecoded limits the decompressed size of a value, so that a forged one cannot
	// exhaust memory.
	maxDecoded = 256 << 20
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// document is the JSON. Flags and segments are in order and in the form in which the
// database stores them, with the field that their own JSON omits. An unreadable one has no
// body but its key and its stored form, so that a release that can read it does so, and one
// that does not know this form reads the database.
type document struct {
	Namespace *guidon.Namespace         `json:"namespace"`
	Revision  guidon.Revision           `json:"revision"`
	Flags     []object[*guidon.Flag]    `json:"flags"`
	Segments  []object[*guidon.Segment] `json:"segments"`
}

type object[T marked] struct {
	Created guidon.Position `json:"created"`
	Body    T               `json:"body"`
	Key     string          `json:"key,omitempty"`
	Stored  []byte          `json:"stored,omitempty"`
}

// marked is a flag or a segment, whose stored form may have a mark.
type marked interface {
	comparable
	Unmark()
}

// read returns the body, read from the stored form if that was unreadable.
func (o object[T]) read(read func(key string, stored []byte) T) T {
	if o.Key != "" {
		return read(o.Key, o.Stored)
	}
	var none T // of a text that is no snapshot
	if o.Body != none {
		o.Body.Unmark()
	}
	return o.Body
}

func encode(snapshot *guidon.Snapshot) (string, error) {
	d := document{Namespace: snapshot.Namespace(), Revision: snapshot.Revision()}
	for _, f := range snapshot.Flags() {
		o := object[*guidon.Flag]{Created: f.Created, Body: f.Stored()}
		if u := f.Unreadable; u != nil {
			o.Body, o.Key, o.Stored = nil, f.Key, u.Stored
		}
		d.Flags = append(d.Flags, o)
	}
	for _, g := range snapshot.Segments() {
		o := object[*guidon.Segment]{Created: g.Created, Body: g.Stored()}
		if u := g.Unreadable; u != nil {
			o.Body, o.Key, o.Stored = nil, g.Key, u.Stored
		}
		d.Segments = append(d.Segments, o)
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false) // as in the database
	if err := encoder.Encode(d); err != nil {
		return "", err
	}
	if plain.Len() < compressFrom {
		return seal(formatPlain, plain.Bytes()), nil
	}
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(plain.Bytes()); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return seal(formatCompressed, compressed.Bytes()), nil
}

func seal(format byte, body []byte) string {
	text := append(make([]byte, 0, headerSize+len(body)), format)
	text = binary.BigEndian.AppendUint32(text, crc32.Checksum(body, checksums))
	return string(append(text, body...))
}

// decode returns the snapshot, or nil if the text is not that of the namespace at the
// revision.
func decode(text, namespace string, revision guidon.Revision) *guidon.Snapshot {
	plain := open(text)
	if plain == nil {
		return nil
	}
	var d document
	if err := json.NewDecoder(plain).Decode(&d); err != nil {
		return nil
	}
	if d.Namespace == nil || d.Namespace.Key != namespace || d.Revision != revision {
		return nil
	}
	flags := make([]*guidon.Flag, len(d.Flags))
	for i, o := range d.Flags {
		f := o.read(guidon.ReadFlag)
		if f == nil {
			return nil
		}
		flags[i], f.Created = f, o.Created
	}
	segments := make([]*guidon.Segment, len(d.Segments))
	for i, o := range d.Segments {
		g := o.read(guidon.ReadSegment)
		if g == nil {
			return nil
		}
		segments[i], g.Created = g, o.Created
	}
	return guidon.NewSnapshot(d.Namespace, revision, flags, segments)
}

// open checks the header and returns the JSON, or nil.
func open(text string) io.Reader {
	if len(text) < headerSize {
		return nil
	}
	body := strings.NewReader(text[headerSize:])
	sum := crc32.New(checksums)
	if _, err := io.Copy(sum, body); err != nil || sum.Sum32() != binary.BigEndian.Uint32([]byte(text[1:headerSize])) {
		return nil
	}
	body.Reset(text[headerSize:])
	switch text[0] {
	case formatPlain:
		return body
	case formatCompressed:
		return io.LimitReader(flate.NewReader(body), maxDecoded)
	}
	return nil
}
