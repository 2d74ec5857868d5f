package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// fillPath replaces the {variables} of the pattern with fields of the message, and
// returns the names of these fields. An empty namespace means the default one. Any other
// empty value, or one with a slash, is an error: the path would map to another operation.
func fillPath(pattern string, message proto.Message) (path string, used map[protoreflect.Name]bool, err error) {
	used = make(map[protoreflect.Name]bool)
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		field := protoreflect.Name(strings.TrimSuffix(name, "}"))
		descriptor := message.ProtoReflect().Descriptor().Fields().ByName(field)
		value := message.ProtoReflect().Get(descriptor).String()
		if value == "" && field == "namespace_key" {
			value = guidon.DefaultNamespace
		}
		switch {
		case value == "":
			return "", nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must not be empty", descriptor.JSONName())
		case strings.Contains(value, "/"): // the service splits paths after decoding them (contract 1.5)
			return "", nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: contains invalid characters", descriptor.JSONName())
		}
		segments[i] = url.PathEscape(value)
		used[field] = true
	}
	return strings.Join(segments, "/"), used, nil
}

// encodeQuery returns a query with the fields that are set and not in the path. Requests
// without a body have only scalar fields, lists of them, and timestamps.
func encodeQuery(message proto.Message, inPath map[protoreflect.Name]bool) string {
	values := make(url.Values)
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case inPath[field.Name()] || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				values.Add(field.JSONName(), queryText(field, value.List().Get(i)))
			}
		default:
			values.Set(field.JSONName(), queryText(field, value))
		}
		return true
	})
	return values.Encode()
}

func queryText(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch field.Kind() {
	case protoreflect.EnumKind:
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return string(known.Name())
		}
	case protoreflect.MessageKind:
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok {
			return at.AsTime().Format(time.RFC3339Nano)
		}
	}
	return value.String()
}

// maxWhole is the protobuf size up to which the JSON of a message is encoded in memory
// before it is sent.
const maxWhole = 1 << 20

// encode returns the JSON of the message, without zero values: a server of an older release
// rejects fields that it does not know. A large message is encoded while it is sent.
func encode(message proto.Message) (io.Reader, error) {
	if proto.Size(message) <= maxWhole {
		var text bytes.Buffer
		err := codec.WriteSparse(&text, message)
		return &text, err
	}
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(codec.WriteSparse(writer, message)) }() // never fails
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
