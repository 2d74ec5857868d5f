package quickgrpc

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// Responses to evaluations are encoded here, to the same bytes as by protobuf. Strings
// that are not valid UTF-8 are left to protobuf, which rejects them.

// Encode returns the encoded response, or false if it is not that of an
// evaluation or has an invalid string. Large buffers are from the pool, as with
// grpc-go's own codec, and grpc-go returns them.
func Encode(response any, pool mem.BufferPool) (mem.BufferSlice, bool) {
	size, ok := sizeOfResponse(response)
	if !Enabled || !ok {
		return nil, false
	}
	if mem.IsBelowBufferPoolingThreshold(size) {
		e := responseEncoder{bytes: make([]byte, 0, size)}
		e.response(response)
		return mem.BufferSlice{mem.SliceBuffer(e.bytes)}, !e.invalid
	}
	buffer := pool.Get(size)
	e := responseEncoder{bytes: (*buffer)[:0]}
	e.response(response)
	if e.invalid {
		pool.Put(buffer)
		return nil, false
	}
	*buffer = e.bytes
	return mem.BufferSlice{mem.NewBuffer(buffer, pool)}, true
}

// responseEncoder appends to bytes.
type responseEncoder struct {
	bytes     []byte
	invalid   bool // a string is not valid UTF-8
	timestamp *timestamppb.Timestamp
	instant   [maxInstant]byte // timestamp encoded; all items of a batch share one
	length    int              // of the encoded timestamp
}

// The largest encoded sizes.
const (
	maxFixed   = 80                              // of the fields of a response that are not strings
	maxPrefix  = 1 + binary.MaxVarintLen32       // of the tag and length of a string
	maxInstant = 2 * (1 + binary.MaxVarintLen64) // of a timestamp
)

// sizeOfResponse returns an upper limit of the encoded size, or false if the response is
// not that of an evaluation.
func sizeOfResponse(response any) (size int, ok bool) {
	switch m := response.(type) {
	case *evaluation.BooleanEvaluationResponse:
		return sizeOfBoolean(m), true
	case *evaluation.VariantEvaluationResponse:
		return sizeOfVariant(m), true
	case *evaluation.BatchEvaluationResponse:
		return sizeOfBatch(m), true
	}
	return 0, false
}

func sizeOfStrings(values []string) (size int) {
	for _, value := range values {
		size += maxPrefix + len(value)
	}
	return size
}

func sizeOfBoolean(m *evaluation.BooleanEvaluationResponse) int {
	return maxFixed + len(m.GetRequestId()) + len(m.GetFlagKey()) + sizeOfStrings(m.GetSegmentKeys())
}

func sizeOfVariant(m *evaluation.VariantEvaluationResponse) int {
	return maxFixed + len(m.GetRequestId()) + len(m.GetFlagKey()) + len(m.GetVariantKey()) + len(m.GetVariantAttachment()) +
		sizeOfStrings(m.GetSegmentKeys())
}

func sizeOfBatch(m *evaluation.BatchEvaluationResponse) int {
	size := maxFixed + len(m.GetRequestId())
	for _, item := range m.GetResponses() {
		size += 3 * maxPrefix
		switch r := item.GetResponse().(type) {
		case *evaluation.EvaluationResponse_BooleanResponse:
			size += sizeOfBoolean(r.BooleanResponse)
		case *evaluation.EvaluationResponse_VariantResponse:
			size += sizeOfVariant(r.VariantResponse)
		case *evaluation.EvaluationResponse_ErrorResponse:
			size += maxFixed + len(r.ErrorResponse.GetFlagKey()) + len(r.ErrorResponse.GetNamespaceKey())
		}
	}
	return size
}

// The field numbers below are those of evaluation.proto, in ascending order.

func (e *responseEncoder) response(response any) {
	switch m := response.(type) {
	case *evaluation.BooleanEvaluationResponse:
		e.boolean(m)
	case *evaluation.VariantEvaluationResponse:
		e.variant(m)
	case *evaluation.BatchEvaluationResponse:
		e.batch(m)
	}
}

func (e *responseEncoder) batch(m *evaluation.BatchEvaluationResponse) {
	e.string(1, m.GetRequestId())
	for _, item := range m.GetResponses() {
		start := e.open(2)
		e.item(item)
		e.close(start)
	}
	e.double(3, m.GetRequestDurationMillis())
}

func (e *responseEncoder) item(m *evaluation.EvaluationResponse) {
	e.enum(1, int32(m.GetType()))
	switch r := m.GetResponse().(type) {
	case *evaluation.EvaluationResponse_BooleanResponse:
		start := e.open(2)
		e.boolean(r.BooleanResponse)
		e.close(start)
	case *evaluation.EvaluationResponse_VariantResponse:
		start := e.open(3)
		e.variant(r.VariantResponse)
		e.close(start)
	case *evaluation.EvaluationResponse_ErrorResponse:
		start := e.open(4)
		e.string(1, r.ErrorResponse.GetFlagKey())
		e.string(2, r.ErrorResponse.GetNamespaceKey())
		e.enum(3, int32(r.ErrorResponse.GetReason()))
		e.close(start)
	}
}

func (e *responseEncoder) boolean(m *evaluation.BooleanEvaluationResponse) {
	e.bool(1, m.GetEnabled())
	e.enum(2, int32(m.GetReason()))
	e.string(3, m.GetRequestId())
	e.double(4, m.GetRequestDurationMillis())
	e.time(5, m.GetTimestamp())
	e.string(6, m.GetFlagKey())
	e.strings(7, m.GetSegmentKeys())
}

func (e *responseEncoder) variant(m *evaluation.VariantEvaluationResponse) {
	e.bool(1, m.GetMatch())
	e.strings(2, m.GetSegmentKeys())
	e.enum(3, int32(m.GetReason()))
	e.string(4, m.GetVariantKey())
	e.string(5, m.GetVariantAttachment())
	e.string(6, m.GetRequestId())
	e.double(7, m.GetRequestDurationMillis())
	e.time(8, m.GetTimestamp())
	e.string(9, m.GetFlagKey())
}

// tag returns the tag of a field whose number is below 16, as all of these are.
func tag(number byte, kind protowire.Type) byte { return number<<3 | byte(kind) } // #nosec G115 -- 0 to 5

// Fields that are not repeated are omitted if they are zero.

func (e *responseEncoder) bool(number byte, value bool) {
	if value {
		e.bytes = append(e.bytes, tag(number, protowire.VarintType), 1)
	}
}

func (e *responseEncoder) enum(number byte, value int32) {
	if value != 0 {
		e.bytes = protowire.AppendVarint(append(e.bytes, tag(number, protowire.VarintType)), uint64(value)) // #nosec G115 -- as protobuf extends it
	}
}

func (e *responseEncoder) double(number byte, value float64) {
	if bits := math.Float64bits(value); bits != 0 {
		e.bytes = binary.LittleEndian.AppendUint64(append(e.bytes, tag(number, protowire.Fixed64Type)), bits)
	}
}

func (e *responseEncoder) string(number byte, value string) {
	if value != "" {
		e.element(number, value)
	}
}

func (e *responseEncoder) strings(number byte, values []string) {
	for _, value := range values {
		e.element(number, value)
	}
}

func (e *responseEncoder) element(number byte, value string) {
	e.invalid = e.invalid || !utf8.ValidString(value)
	e.bytes = protowire.AppendVarint(append(e.bytes, tag(number, protowire.BytesType)), uint64(len(value)))
	e.bytes = append(e.bytes, value...)
}

func (e *responseEncoder) time(number byte, value *timestamppb.Timestamp) {
	if value == nil {
		return
	}
	if value != e.timestamp {
		e.timestamp = value
		e.length = len(appendTime(e.instant[:0], value))
	}
	e.bytes = append(e.bytes, tag(number, protowire.BytesType), byte(e.length)) // #nosec G115 -- at most maxInstant
	e.bytes = append(e.bytes, e.instant[:e.length]...)
}

func appendTime(b []byte, value *timestamppb.Timestamp) []byte {
	if seconds := value.GetSeconds(); seconds != 0 {
		b = protowire.AppendVarint(append(b, tag(1, protowire.VarintType)), uint64(seconds)) // #nosec G115 -- as protobuf encodes it
	}
	if nanos := value.GetNanos(); nanos != 0 {
		b = protowire.AppendVarint(append(b, tag(2, protowire.VarintType)), uint64(nanos)) // #nosec G115 -- as protobuf extends it
	}
	return b
}

// open begins an embedded message, which close ends.
func (e *responseEncoder) open(number byte) (start int) {
	e.bytes = append(e.bytes, tag(number, protowire.BytesType), 0) // room for a length of one byte; close adds more
	return len(e.bytes)
}

func (e *responseEncoder) close(start int) {
	length := len(e.bytes) - start
	if more := protowire.SizeVarint(uint64(length)) - 1; more > 0 { // #nosec G115 -- not negative
		e.bytes = append(e.bytes, make([]byte, more)...)
		copy(e.bytes[start+more:], e.bytes[start:start+length])
	}
	binary.PutUvarint(e.bytes[start-1:], uint64(length)) // #nosec G115 -- not negative
}
