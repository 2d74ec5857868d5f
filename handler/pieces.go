package handler

import (
	"errors"
	"io"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

const (
	// writeLimit is how long a client may take for one piece of what is sent.
	writeLimit = 10 * time.Second
	writePiece = 64 << 10
)

// What writing by the piece takes of memory, in bytes: as it is, and compressed.
const (
	sizeOfPieces      = 128 << 10
	sizeOfCompressing = 1 << 20
)

// pieces writes to a connection in pieces, each with a deadline of its own: a client
// that reads nothing is disconnected, and one that reads a long response slowly is not.
// It has no buffer.
type pieces struct {
	to      io.Writer
	control *http.ResponseController
}

func (x *exchange) pieces() pieces {
	return pieces{to: x, control: http.NewResponseController(x.ResponseWriter)}
}

// begin gives the client the time for one piece. It is no error where there is no
// connection, as on AWS Lambda.
func (p pieces) begin() error {
	err := p.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// Write implements [io.Writer].
func (p pieces) Write(body []byte) (int, error) {
	written := 0
	for written < len(body) {
		if err := p.begin(); err != nil {
			return written, err
		}
		n, err := p.to.Write(body[written:min(len(body), written+writePiece)])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// writeBody writes a body that is there as a whole.
func (x *exchange) writeBody(body []byte) {
	if len(body) <= writePiece {
		_, _ = x.Write(body) // a client that went away is nobody's error
		return
	}
	x.writePieces(func(out io.Writer) error {
		_, err := out.Write(body)
		return err
	})
}

// writePieces writes the body that write writes, after the header.
func (x *exchange) writePieces(write func(out io.Writer) error) {
	p := x.pieces()
	_ = write(p)  // a client that went away is nobody's error
	_ = p.begin() // the end of the answer needs time, too
}

// replyPieces answers with the JSON that write writes, of whatever length: what has
// been written goes to the client while the rest is not there yet. A short one is
// answered like any other.
func (x *exchange) replyPieces(write func(out io.Writer) error) {
	a := &incremental{x: x}
	err := write(a)
	if err == nil {
		err = a.close()
	}
	if err != nil && !x.wroteHeader {
		x.replyError(err)
	}
}

// replyLargeMessage writes a message for which isLarge holds in pieces: its strings are
// those of the snapshot in memory, and its whole JSON would be a copy of them.
func (x *exchange) replyLargeMessage(m proto.Message) {
	pretty := x.pretty()
	x.replyPieces(func(out io.Writer) error {
		w := codec.NewWriter(out)
		if pretty {
			w = codec.NewPrettyWriter(out)
		}
		w.Message(m, pretty)
		return w.Flush()
	})
}

// isLarge reports whether the message must be written in pieces.
func isLarge(m proto.Message) bool {
	switch m := m.(type) {
	case *evaluation.BooleanEvaluationResponse, *httpbody.HttpBody:
		return false
	case *evaluation.VariantEvaluationResponse: // without looking at all of it: there are many
		return len(m.GetVariantAttachment()) > writePiece
	}
	return proto.Size(m) > writePiece
}

// incremental is an answer that begins when the first piece of it is there.
type incremental struct {
	x     *exchange
	first []byte    // what there is before the answer begins
	out   io.Writer // nil before
	end   func() error
}

// Write implements [io.Writer].
func (a *incremental) Write(p []byte) (int, error) {
	if a.out == nil {
		if a.first = append(a.first, p...); len(a.first) <= writePiece {
			return len(p), nil
		}
		if err := a.begin(); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return a.out.Write(p)
}

func (a *incremental) begin() error {
	encoding := acceptedEncoding(a.x.request.Header["Accept-Encoding"])
	reserved := &a.x.opRequest.reserved
	known := reserved.Size() // of what the answer is made from
	if encoding != "" && !reserved.Try(known+sizeOfCompressing) {
		encoding = "" // as it is takes less memory
	}
	if encoding == "" {
		if err := reserved.Resize(a.x.request.Context(), known+sizeOfPieces); err != nil {
			return err
		}
	}
	header := a.x.Header()
	header.Set("Content-Type", contentJSON)
	header.Add("Vary", "Accept-Encoding")
	connection := a.x.pieces()
	a.out, a.end = connection, func() error { return nil }
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
		a.out, a.end = compressTo(encoding, connection)
	}
	a.x.WriteHeader(http.StatusOK)
	_, err := a.out.Write(a.first)
	a.first = nil
	return err
}

func (a *incremental) close() error {
	if a.out == nil {
		a.x.reply(http.StatusOK, contentJSON, a.first)
		return nil
	}
	err := a.end()
	_ = a.x.pieces().begin() // as in writePieces
	return err
}
