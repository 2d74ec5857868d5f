package client

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxWhole is the protobuf size up to which the JSON of a message is encoded in memory
// before it is sent.
const maxWhole = 1 << 20

// encode returns the JSON of the message, without zero values: a server of an older release
// rejects fields that it does not know. A large message is encoded while it is sent.
func encode(message proto.Message) (io.Reader, error) {
	write := func(out io.Writer) error {
		w := codec.NewWriter(out)
		w.Message(message, true)
		return w.Flush()
	}
	if proto.Size(message) <= maxWhole {
		var text bytes.Buffer
		err := write(&text)
		return &text, err
	}
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(write(writer)) }() // never fails
	return reader, nil
}

// readDocument reads a document into the message, flag by flag, so that its entire JSON
// is never in memory.
func (c *httpClient) readDocument(ctx context.Context, body io.Reader, into *guidonv1.Document) error {
	proto.Reset(into)
	limited := &io.LimitedReader{R: body, N: maxResponse + 1}
	var flags []*guidonv1.DocumentFlag
	var segments []*guidonv1.DocumentSegment
	_, err := codec.UnmarshalStream(limited, into, maxResponseValues, map[string]codec.List{
		"flags":    listOf(&flags),
		"segments": listOf(&segments),
	})
	into.Flags, into.Segments = flags, segments
	switch code := guidon.CodeOf(err); {
	case limited.N <= 0:
		return guidon.Errorf(guidon.TooLarge, "the response from %s is larger than %d MiB", c.address, maxResponse>>20)
	case err != nil && code != guidon.InvalidArgument && code != guidon.TooLarge:
		return c.failure(ctx, err)
	case err != nil:
		return fmt.Errorf("cannot parse the response from %s: %w", c.address, err)
	}
	return nil
}

// listOf returns a codec.List that appends the elements to items.
func listOf[M any, P interface {
	*M
	proto.Message
}](items *[]P) codec.List {
	return codec.List{
		Reset: func() { *items = nil },
		Add: func(element []byte) error {
			item := P(new(M))
			*items = append(*items, item)
			return codec.Unmarshal(element, item, maxResponseValues)
		},
	}
}
