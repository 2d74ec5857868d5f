//go:build !simple

package quickgrpc

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/service"
)

// usualRequest returns a request as clients send it, with the given context.
func usualRequest(flag string, context map[string]string) *evaluation.EvaluationRequest {
	return &evaluation.EvaluationRequest{
		RequestId: "r-" + flag, NamespaceKey: "default", FlagKey: flag, EntityId: "user-0001", Reference: "main", Context: context,
	}
}

func encodedMessage(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkDecoding compares how Decode and protobuf decode the data, and reports whether
// Decode did. If it did not, protobuf must be able to use the same message.
func checkDecoding(t *testing.T, data []byte, empty proto.Message) bool {
	t.Helper()
	want, got := proto.Clone(empty), proto.Clone(empty)
	wantErr := proto.Unmarshal(data, want)
	items, ok, err := Decode(data, got, service.MaxBatch)
	defer items.Release() // so that the next one reuses the memory
	if errors.Is(err, ErrTooMany) {
		return false
	}
	if err != nil || ok && wantErr != nil {
		t.Fatalf("%.1000x: decoded %t, error %v, protobuf returns %v", data, ok, err, wantErr)
	}
	if !ok && wantErr == nil {
		err = proto.Unmarshal(data, got)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); wantErr == nil && (err != nil || diff != "") {
		t.Errorf("%.1000x: error %v (-protobuf +quick):\n%s", data, err, diff)
	}
	return ok
}

var single, batch = &evaluation.EvaluationRequest{}, &evaluation.BatchEvaluationRequest{}

// The usual requests are decoded to the same message as by protobuf.
// The rest is left to protobuf.
func TestDecode(t *testing.T) {
	context := map[string]string{"country": "US", "age": "18", "name": "Zoë", "": "", "long": strings.Repeat("x", 300)}
	one := encodedMessage(t, usualRequest("a", context))
	short := func(flag string, pairs ...string) *evaluation.EvaluationRequest {
		m := &evaluation.EvaluationRequest{FlagKey: flag, Context: map[string]string{}}
		for pair := range slices.Chunk(pairs, 2) {
			m.Context[pair[0]] = pair[1]
		}
		return m
	}
	item := func(m *evaluation.EvaluationRequest) []byte {
		return encodedMessage(t, &evaluation.BatchEvaluationRequest{Requests: []*evaluation.EvaluationRequest{m}})
	}
	join := func(parts ...[]byte) (all []byte) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	bytesField := func(number protowire.Number, contents string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), contents)
	}
	tests := []struct {
		name  string
		empty proto.Message
		data  []byte
		quick bool
	}{
		{"nothing", single, nil, true},
		{"a request", single, one, true},
		{"without a context", single, encodedMessage(t, usualRequest("a", nil)), true},
		{"the last value of a field wins", single, join(one, bytesField(requestFlagKey, "b")), true},
		{"the last value of a key wins", single, join(bytesField(requestContext, "\x0a\x01k\x12\x01a"), bytesField(requestContext, "\x0a\x01k\x12\x01b")), true},
		{"omitted parts of an entry", single, join(bytesField(requestContext, "\x12\x01v"), bytesField(requestContext, "\x0a\x01k"), bytesField(requestContext, "")), true},
		{"parts of an entry in any order, twice", single, bytesField(requestContext, "\x12\x01v\x0a\x01k\x12\x01w"), true},
		{"a context in two places", single, join(bytesField(requestContext, "\x0a\x01a"), bytesField(requestFlagKey, "f"), bytesField(requestContext, "\x0a\x01b")), false},
		{"a length in more bytes than it needs", single, []byte("\x1a\x81\x80\x00f"), true},
		{"a length of ten bytes", single, []byte("\x1a\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00f"), false},
		{"an unknown field", single, join(one, bytesField(1000, "x")), false},
		{"an unknown field of an entry", single, bytesField(requestContext, "\x0a\x01k\x1a\x01x"), false},
		{"a field of another type", single, []byte("\x18\x01"), false},
		{"a group", single, []byte("\x1b\x1c"), false},
		{"invalid text", single, bytesField(requestFlagKey, "\xff"), false},
		{"invalid text in a context", single, bytesField(requestContext, "\x0a\x01\xff"), false},
		{"invalid text in a value", single, bytesField(requestContext, "\x12\x01\xff"), false},
		{"field zero", single, []byte("\x02\x00"), false},
		{"cut off", single, one[:len(one)-1], false},
		{"cut off in a length", single, []byte("\x1a\x81"), false},
		{"cut off in an entry", single, bytesField(requestContext, "\x0a\x05k"), false},

		{"an empty batch", batch, nil, true},
		{"a batch", batch, join(item(usualRequest("a", context)), item(usualRequest("b", nil)), item(usualRequest("c", context))), true},
		{"a batch of different contexts", batch, join(item(usualRequest("a", context)), item(usualRequest("b", map[string]string{"k": "v"})), item(usualRequest("c", context))), true},
		{"a batch of short requests", batch, join(item(short("a", "k", "v")), item(short("b", "k", "v")), item(short("c", "k", "w"))), true},
		{"a batch of contexts that begin alike", batch, join(item(short("a", "k", "v")), item(short("b", "k", "v", "l", "w")), item(short("c", "k", "v"))), true},
		{"a batch of contexts that end alike", batch, join(item(short("a", "l", "w")), item(short("b", "k", "v", "l", "w")), item(short("c"))), true},
		{"a batch of one context in two places", batch, join(item(short("a", "k", "v")),
			bytesField(batchRequests, "\x2a\x06\x0a\x01k\x12\x01v\x1a\x01f\x2a\x06\x0a\x01k\x12\x01v")), false},
		{"a batch of short requests with invalid text", batch, join(item(short("a", "k", "v")), bytesField(batchRequests, "\x1a\x01\xff")), false},
		{"a batch of its own fields", batch, join(bytesField(batchRequestID, "r"), item(usualRequest("a", nil)), bytesField(batchReference, "main")), true},
		{"an empty item", batch, bytesField(batchRequests, ""), true},
		{"the largest batch", batch, []byte(strings.Repeat("\x1a\x00", service.MaxBatch)), true},
		{"a batch that is too large", batch, []byte(strings.Repeat("\x1a\x00", service.MaxBatch+1)), false},
		{"an unknown field of a batch", batch, bytesField(2, "x"), false},
		{"invalid text of a batch", batch, bytesField(batchRequestID, "\xff"), false},
		{"an unknown field of an item", batch, join(item(usualRequest("a", context)), bytesField(batchRequests, "\xc2\x3e\x00")), false},
		{"an item cut off", batch, bytesField(batchRequests, "\x1a\x05f"), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if quick := checkDecoding(t, test.data, test.empty); quick != test.quick {
				t.Errorf("decoded without protobuf: %t, want %t", quick, test.quick)
			}
		})
	}
}

// FuzzDecode checks that data is decoded to the same message as by protobuf, or left to it.
func FuzzDecode(f *testing.F) {
	context := map[string]string{"country": "US", "age": "18"}
	f.Add(encodedMessage(f, usualRequest("a", context)))
	f.Add(encodedMessage(f, &evaluation.BatchEvaluationRequest{
		RequestId: "r", Requests: []*evaluation.EvaluationRequest{usualRequest("a", context), usualRequest("b", context), usualRequest("c", nil)},
	}))
	f.Add(encodedMessage(f, &evaluation.BatchEvaluationRequest{Requests: []*evaluation.EvaluationRequest{
		{FlagKey: "a", Context: map[string]string{"k": "v"}}, {FlagKey: "b", Context: map[string]string{"k": "v", "l": "w"}}, {Context: map[string]string{"k": "v"}},
	}}))
	f.Add([]byte("\x1b\x1c\x2a\x04\x0a\x01k\x12"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkDecoding(t, data, single)
		checkDecoding(t, data, batch)
	})
}

// checkEncoding compares how Encode and protobuf encode the response.
func checkEncoding(t *testing.T, m proto.Message) {
	t.Helper()
	want, wantErr := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	got, ok := Encode(m, mem.DefaultBufferPool())
	if ok != (wantErr == nil) {
		t.Fatalf("encoded %t, protobuf returns error %v", ok, wantErr)
	}
	defer got.Free()
	if ok && !bytes.Equal(want, got.Materialize()) {
		t.Errorf("Encode writes\n%.1000x, protobuf\n%.1000x", got.Materialize(), want)
	}
}

// responses returns a boolean, a variant and a batch response.
func responses(text string, number float64, at time.Time, reason int32, segments []string) []proto.Message {
	boolean := &evaluation.BooleanEvaluationResponse{
		Enabled: true, Reason: evaluation.EvaluationReason(reason), RequestId: text, RequestDurationMillis: number,
		Timestamp: timestamppb.New(at), FlagKey: text, SegmentKeys: segments,
	}
	variant := &evaluation.VariantEvaluationResponse{
		Match: true, SegmentKeys: segments, Reason: evaluation.EvaluationReason(reason), VariantKey: text, VariantAttachment: text,
		RequestId: text, RequestDurationMillis: number, Timestamp: boolean.GetTimestamp(), FlagKey: text,
	}
	items := []*evaluation.EvaluationResponse{
		{Type: 1, Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: boolean}},
		{Type: 0, Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: variant}},
		{Type: 2, Response: &evaluation.EvaluationResponse_ErrorResponse{ErrorResponse: &evaluation.ErrorEvaluationResponse{
			FlagKey: text, NamespaceKey: text, Reason: evaluation.ErrorEvaluationReason(reason),
		}}},
		{Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: &evaluation.BooleanEvaluationResponse{Timestamp: timestamppb.New(at.Add(1))}}},
		{Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: &evaluation.VariantEvaluationResponse{}}},
		{Response: &evaluation.EvaluationResponse_ErrorResponse{}},
		{},
	}
	return []proto.Message{boolean, variant, &evaluation.BatchEvaluationResponse{RequestId: text, Responses: items, RequestDurationMillis: number}}
}

// Responses are encoded to the same bytes as by protobuf.
func TestEncode(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 123_456_789, time.UTC)
	tests := []struct {
		name     string
		text     string
		number   float64
		at       time.Time
		reason   int32
		segments []string
	}{
		{"usual", "bool-00001", 0.041, noon, 2, []string{"internal", "beta"}},
		{"zero", "", 0, time.Unix(0, 0), 0, nil},
		{"negative zero", "", math.Copysign(0, -1), time.Unix(0, 0), 0, []string{""}},
		{"before 1970", "x", math.NaN(), time.Unix(-1, 5), -1, nil},
		{"a length of two bytes", strings.Repeat("x", 200), math.Inf(1), noon, 3, []string{strings.Repeat("y", 128)}},
		{"large enough for the pool", strings.Repeat("x", 20_000), 1, noon, 3, []string{strings.Repeat("y", 100_000)}},
		{"beyond ASCII", "Zoë", 1, noon, 3, nil},
		{"invalid text", "\xff", 1, noon, 3, nil},
		{"invalid text in a segment", "x", 1, noon, 3, []string{"\xff"}},
		{"invalid text in a large one", strings.Repeat("x", 20_000) + "\xff", 1, noon, 3, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, m := range append(responses(test.text, test.number, test.at, test.reason, test.segments),
				&evaluation.BooleanEvaluationResponse{}, &evaluation.VariantEvaluationResponse{}, &evaluation.BatchEvaluationResponse{},
				(*evaluation.BooleanEvaluationResponse)(nil), (*evaluation.VariantEvaluationResponse)(nil), (*evaluation.BatchEvaluationResponse)(nil)) {
				checkEncoding(t, m)
			}
		})
	}
}

// FuzzEncode checks that every response is encoded to the same bytes as by
// protobuf.
func FuzzEncode(f *testing.F) {
	f.Add("flag", 0.041, int64(1_795_262_400), int64(123), int32(2), "segment")
	f.Add("\xff", math.NaN(), int64(-1), int64(-1), int32(-1), strings.Repeat("x", 200))
	f.Fuzz(func(t *testing.T, text string, number float64, seconds, nanos int64, reason int32, segment string) {
		for _, m := range responses(text, number, time.Unix(seconds, nanos), reason, []string{segment, text}) {
			checkEncoding(t, m)
		}
	})
}

// The size computed for a response is sufficient, so that its buffer need not be
// reallocated outside of the pool.
func TestSizeOfResponse(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("x", 1<<14), strings.Repeat("x", 1<<21)} {
		for _, m := range responses(text, 1, time.Unix(1<<40, 999_999_999), -1, []string{"", text}) {
			if size, _ := sizeOfResponse(m); size < proto.Size(m) {
				t.Errorf("%T with strings of %d bytes: reserved %d, want at least %d", m, len(text), size, proto.Size(m))
			}
		}
	}
}
