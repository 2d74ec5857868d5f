package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
)

// ReadBody returns the body, which is valid until the next use of the buffer. It
// reserves memory for the body and for decoding it. It returns TooLarge if the body
// exceeds the limit.
func (x *Exchange) ReadBody(ctx context.Context, limit int64) ([]byte, error) {
	length := x.Request.ContentLength
	if length > limit {
		x.Header().Set("Connection", "close") // instead of reading the body
		return nil, errBodyTooLarge(limit)
	}
	if length == 0 {
		return nil, nil
	}
	source := x.Request.Body
	if length < 0 {
		// If the body is too large net/http closes the connection, but only if it is
		// given its own ResponseWriter.
		source = http.MaxBytesReader(x.ResponseWriter, source, limit)
	}
	body, err := x.readAll(ctx, source, length)
	x.Keep(body)
	if err == nil {
		_ = x.Request.Body.Close() // saves net/http another read for the rest of the body
		return body, x.decoded.Raise(ctx, codec.Cost(body))
	}
	if guidon.CodeOf(err) == guidon.Unavailable { // no memory in the budget
		return nil, err
	}
	return nil, x.readError(err, errBodyTooLarge(limit))
}

// Reserve reserves memory for the decoded body: at least n bytes, including those that
// decoding takes. It returns Unavailable if there is no room.
func (x *Exchange) Reserve(ctx context.Context, n int64) error { return x.decoded.Raise(ctx, n) }

// readError returns the error for a body that could not be read, which is tooLarge if it
// exceeded its limit.
func (x *Exchange) readError(err, tooLarge error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	// A body that ends early or does not arrive in time is the caller's mistake, and
	// the caller may still read the response. net/http treats both as a lost connection.
	cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded)
	if ctxErr := x.Request.Context().Err(); ctxErr != nil && !cut {
		return ctxErr
	}
	return &guidon.Error{Code: guidon.InvalidArgument, Message: "the request body could not be read to its end", Err: err}
}

func errBodyTooLarge(limit int64) error {
	return guidon.Errorf(guidon.TooLarge, "the request body exceeds %d bytes", limit)
}

// decodeLong decodes a long body into m while it is read, and returns the payload.
func (x *Exchange) decodeLong(ctx context.Context, long *call.LongBody, limit int64, m proto.Message) (any, error) {
	if x.Request.ContentLength > limit {
		x.Header().Set("Connection", "close") // rather than read the rest
		return nil, long.TooLong
	}
	if err := x.decoded.Raise(ctx, limit); err != nil { // the whole share: one at a time
		return nil, err
	}
	source := &bodyReader{from: http.MaxBytesReader(x.ResponseWriter, x.Request.Body, limit)}
	payload, err := long.Decode(source, m)
	if source.err != nil && source.err != io.EOF {
		return nil, x.readError(source.err, long.TooLong)
	}
	return payload, err
}

// isLong reports whether the body must be decoded while it is read, because it is long or
// of unknown length. An anonymous caller's may not be long.
func (x *Exchange) isLong(long *call.LongBody, limits call.Limits) bool {
	length := x.Request.ContentLength
	return long != nil && limits.Bytes > long.Whole && (length < 0 || length > long.Whole)
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
