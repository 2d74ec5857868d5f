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

// maxWhole is the size, in the form of gRPC, up to which the JSON of a message is
// made as a whole.
const maxWhole = 1 << 20

// encode returns the JSON of the message. That of a large one is made while it is
// sent, and leaves zero values out.
func encode(message proto.Message) (io.Reader, error) {
	if proto.Size(message) <= maxWhole {
		text, err := codec.Marshal(message)
		return bytes.NewReader(text), err
	}
	reader, writer := io.Pipe()
	go func() {
		w := codec.NewWriter(writer)
		w.Message(message, true)
		_ = writer.CloseWithError(w.Flush()) // never fails
	}()
	return reader, nil
}

// readDocument reads a document into the message, flag by flag, so that its JSON is
// never in memory as a whole.
func (c *httpClient) readDocument(ctx context.Context, body io.Reader, into *guidonv1.Document) error {
	proto.Reset(into)
	answer := &io.LimitedReader{R: body, N: maxAnswer + 1}
	var flags []*guidonv1.DocumentFlag
	var segments []*guidonv1.DocumentSegment
	err := codec.UnmarshalStream(answer, into, maxAnswerValues, map[string]codec.List{
		"flags":    listOf(&flags),
		"segments": listOf(&segments),
	})
	into.Flags, into.Segments = flags, segments
	switch code := guidon.CodeOf(err); {
	case answer.N <= 0:
		return guidon.Errorf(guidon.TooLarge, "the answer of %s is larger than %d MiB", c.address, maxAnswer>>20)
	case err != nil && code != guidon.InvalidArgument && code != guidon.TooLarge:
		return c.failure(ctx, err)
	case err != nil:
		return fmt.Errorf("answer of %s: %w", c.address, err)
	}
	return nil
}

// listOf returns what collects the elements of a list.
func listOf[M any, P interface {
	*M
	proto.Message
}](items *[]P) codec.List {
	return codec.List{
		Reset: func() { *items = nil },
		Add: func(element []byte) error {
			item := P(new(M))
			*items = append(*items, item)
			return codec.Unmarshal(element, item, maxAnswerValues)
		},
	}
}
