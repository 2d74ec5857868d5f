package exchange

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/guidonhq/guidon/handler/call"
)

// WriteLimit is how long a client may take to receive one piece, of at most
// [call.MaxWhole].
const WriteLimit = 10 * time.Second

// The memory needed for writing in pieces, uncompressed and compressed, in bytes.
const (
	SizeOfPieces      = 128 << 10
	sizeOfCompressing = 1 << 20
)

// Pieces writes to a connection in pieces, each with its own deadline: a client that
// reads nothing is disconnected, and one that reads a long response slowly is not. It is
// unbuffered.
type Pieces struct {
	to      io.Writer
	Control *http.ResponseController // of the connection
}

// Pieces returns the connection.
func (x *Exchange) Pieces() Pieces {
	return Pieces{to: x, Control: http.NewResponseController(x.ResponseWriter)}
}

// Begin sets the deadline for one piece. A writer without deadlines, as on AWS Lambda,
// is not an error.
func (p Pieces) Begin() error {
	err := p.Control.SetWriteDeadline(time.Now().Add(WriteLimit))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// Write implements [io.Writer].
func (p Pieces) Write(body []byte) (int, error) {
	written := 0
	for written < len(body) {
		if err := p.Begin(); err != nil {
			return written, err
		}
		n, err := p.to.Write(body[written:min(len(body), written+call.MaxWhole)])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// writeBody writes a complete body, after the header.
func (x *Exchange) writeBody(body []byte) {
	if len(body) <= call.MaxWhole {
		_, _ = x.Write(body) // a disconnected client is not an error
		return
	}
	x.WritePieces(func(out io.Writer) error {
		_, err := out.Write(body)
		return err
	})
}

// WritePieces calls write to write the body in pieces, after the header.
func (x *Exchange) WritePieces(write func(out io.Writer) error) {
	p := x.Pieces()
	_ = write(p)  // a disconnected client is not an error
	_ = p.Begin() // for the end of the response
}

// ReplyPieces writes a JSON response of any length. A long one is sent while it is being
// written. A short one is sent like any other response.
func (x *Exchange) ReplyPieces(response call.InPieces) {
	a := &incremental{x: x}
	err := response.WriteJSON(a, x.Pretty())
	if err == nil {
		err = a.close()
	}
	if err != nil && !x.wroteHeader {
		x.ReplyError(err)
	}
}

// replyWhole writes a JSON response that is encoded before any of it is sent, so that nothing
// but its text is kept for a slow client.
func (x *Exchange) replyWhole(response call.InPieces) {
	var body bytes.Buffer
	if err := response.WriteJSON(&body, x.Pretty()); err != nil {
		x.ReplyError(err)
		return
	}
	x.Reply(http.StatusOK, ContentJSON, body.Bytes())
}

// incremental is a response that starts when more than one piece has been written.
type incremental struct {
	x     *Exchange
	first []byte    // buffered until the response starts
	out   io.Writer // nil until the response starts
	end   func() error
}

// Write implements [io.Writer].
func (a *incremental) Write(p []byte) (int, error) {
	if a.out == nil {
		if a.first = append(a.first, p...); len(a.first) <= call.MaxWhole {
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
	encoding := AcceptedEncoding(a.x.Request.Header["Accept-Encoding"])
	reserved := &a.x.Call.Memory
	known := reserved.Size() // for the data that the response is built from
	if encoding != "" && !reserved.Try(known+sizeOfCompressing) {
		encoding = "" // uncompressed takes less memory
	}
	if encoding == "" {
		if err := reserved.Resize(a.x.Request.Context(), known+SizeOfPieces); err != nil {
			return err
		}
	}
	header := a.x.Header()
	header.Set("Content-Type", ContentJSON)
	header.Add("Vary", "Accept-Encoding")
	connection := a.x.Pieces()
	a.out, a.end = connection, func() error { return nil }
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
		a.out, a.end = CompressTo(encoding, connection)
	}
	a.x.WriteHeader(http.StatusOK)
	_, err := a.out.Write(a.first)
	a.first = nil
	return err
}

func (a *incremental) close() error {
	if a.out == nil {
		a.x.Reply(http.StatusOK, ContentJSON, a.first)
		return nil
	}
	err := a.end()
	_ = a.x.Pieces().Begin() // as in WritePieces
	return err
}
