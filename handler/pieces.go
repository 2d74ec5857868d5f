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
	// writeLimit is how long a client may take to receive one piece.
	writeLimit = 10 * time.Second
	writePiece = 64 << 10
)

// The memory needed for writing in pieces, uncompressed and compressed, in bytes.
const (
	sizeOfPieces      = 128 << 10
	sizeOfCompressing = 1 << 20
)

// pieces writes to a connection in pieces, each with its own deadline: a client that
// reads nothing is disconnected, and one that reads a long response slowly is not. It is
// unbuffered.
type pieces struct {
	to      io.Writer
	control *http.ResponseController
}

func (x *exchange) pieces() pieces {
	return pieces{to: x, control: http.NewResponseController(x.ResponseWriter)}
}

// begin sets the deadline for one piece. A writer without deadlines, as on AWS Lambda,
// is not an error.
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

// writeBody writes a complete body, after the header.
func (x *exchange) writeBody(body []byte) {
	if len(body) <= writePiece {
		_, _ = x.Write(body) // a disconnected client is not an error
		return
	}
	x.writePieces(func(out io.Writer) error {
		_, err := out.Write(body)
		return err
	})
}

// writePieces calls write to write the body in pieces, after the header.
func (x *exchange) writePieces(write func(out io.Writer) error) {
	p := x.pieces()
	_ = write(p)  // a disconnected client is not an error
	_ = p.begin() // for the end of the response
}

// replyPieces writes a JSON response of any length, with a body from write. A long body
// is sent while it is being written. A short one is sent like any other response.
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

// replyLargeMessage writes in pieces a message for which isLarge returns true. Its
// strings are those of the cached snapshot, and encoding it as a whole would copy them.
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
	case *evaluation.VariantEvaluationResponse: // frequent, so proto.Size is avoided
		return len(m.GetVariantAttachment()) > writePiece
	}
	return proto.Size(m) > writePiece
}

// incremental is a response that starts when more than one piece has been written.
type incremental struct {
	x     *exchange
	first []byte    // buffered until the response starts
	out   io.Writer // nil until the response starts
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
	known := reserved.Size() // for the data that the response is built from
	if encoding != "" && !reserved.Try(known+sizeOfCompressing) {
		encoding = "" // uncompressed takes less memory
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
