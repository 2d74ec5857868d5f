package quick

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// maxQuick is the largest body for the fast path, in bytes: every string of such a
// message keeps its whole body in memory.
const maxQuick = 64 << 10

// reader is the fast path for the usual bodies of evaluation requests, of which there are
// thousands a second. It deliberately handles only common input and leaves the rest to
// codec. Only one place then handles the rare cases and the errors, so the two cannot
// differ in them. The strings that it returns are substrings of the body.
type reader struct {
	text  string
	pos   int
	wide  bool              // some string is not ASCII
	spare map[string]string // an empty map for a context, or nil

	// The last context read. The items of a batch usually have the same one.
	contextText string
	context     map[string]string
}

// Unmarshal is codec.Unmarshal for a usual body. It reports whether the body was one;
// if not, m is unchanged.
func Unmarshal(body []byte, m proto.Message, values int) bool {
	if !Enabled || len(body) > min(maxQuick, values) { // a value takes more than a byte, so there are not too many
		return false
	}
	switch m := m.(type) {
	case *evaluation.EvaluationRequest:
		q := reader{text: string(body)}
		if len(m.GetContext()) == 0 {
			q.spare = m.GetContext()
		}
		if e, ok := q.evaluation(); ok && q.valid() {
			e.assign(m)
			return true
		}
		clear(q.spare)
	case *evaluation.BatchEvaluationRequest:
		q := reader{text: string(body)}
		if b, ok := q.batch(); ok && q.valid() {
			b.assign(m)
			return true
		}
	}
	return false
}

// The fields of both kinds of request, as bits of the set of fields read so far.
const (
	requestID = 1 << iota
	reference
	namespaceKey
	flagKey
	entityID
	evaluationContext
	requests
)

// quickEvaluation holds the fields of an EvaluationRequest.
type quickEvaluation struct {
	met                                                   int
	requestID, namespaceKey, flagKey, entityID, reference string
	context                                               map[string]string
}

func (e *quickEvaluation) assign(m *evaluation.EvaluationRequest) {
	if e.met&requestID != 0 {
		m.RequestId = e.requestID
	}
	if e.met&namespaceKey != 0 {
		m.NamespaceKey = e.namespaceKey
	}
	if e.met&flagKey != 0 {
		m.FlagKey = e.flagKey
	}
	if e.met&entityID != 0 {
		m.EntityId = e.entityID
	}
	if e.met&evaluationContext != 0 {
		m.Context = e.context
	}
	if e.met&reference != 0 {
		m.Reference = e.reference
	}
}

func (q *reader) evaluation() (e quickEvaluation, ok bool) {
	for more := q.open('{', '}', &ok); more; more = q.more('}', &ok) {
		var known bool
		switch q.name() {
		case "requestId", "request_id":
			known = q.textField(requestID, &e.met, &e.requestID)
		case "namespaceKey", "namespace_key":
			known = q.textField(namespaceKey, &e.met, &e.namespaceKey)
		case "flagKey", "flag_key":
			known = q.textField(flagKey, &e.met, &e.flagKey)
		case "entityId", "entity_id":
			known = q.textField(entityID, &e.met, &e.entityID)
		case "reference":
			known = q.textField(reference, &e.met, &e.reference)
		case "context":
			known = q.first(evaluationContext, &e.met) && (q.null() || q.stringMap(&e.context))
		}
		if !known {
			return e, false
		}
	}
	return e, ok
}

// quickBatch holds the fields of a BatchEvaluationRequest.
type quickBatch struct {
	met                  int
	requestID, reference string
	requests             []*evaluation.EvaluationRequest
}

func (b *quickBatch) assign(m *evaluation.BatchEvaluationRequest) {
	if b.met&requestID != 0 {
		m.RequestId = b.requestID
	}
	if b.met&reference != 0 {
		m.Reference = b.reference
	}
	if b.met&requests != 0 {
		m.Requests = b.requests
	}
}

func (q *reader) batch() (b quickBatch, ok bool) {
	for more := q.open('{', '}', &ok); more; more = q.more('}', &ok) {
		var known bool
		switch q.name() {
		case "requestId", "request_id":
			known = q.textField(requestID, &b.met, &b.requestID)
		case "reference":
			known = q.textField(reference, &b.met, &b.reference)
		case "requests":
			known = q.first(requests, &b.met) && q.evaluations(&b.requests)
		}
		if !known {
			return b, false
		}
	}
	return b, ok
}

// evaluations reads the items of a batch.
func (q *reader) evaluations(into *[]*evaluation.EvaluationRequest) (ok bool) {
	const chunk = 16 // messages allocated together
	var free []evaluation.EvaluationRequest
	for more := q.open('[', ']', &ok); more; more = q.more(']', &ok) {
		e, ok := q.evaluation()
		if !ok {
			return false
		}
		if len(free) == 0 {
			free = make([]evaluation.EvaluationRequest, chunk)
		}
		e.assign(&free[0])
		*into = append(*into, &free[0])
		free = free[1:]
	}
	return ok
}

// stringMap reads a map of strings. If a map has the same spelling as the one before, the
// two are the same map, so it must not be modified.
func (q *reader) stringMap(into *map[string]string) (ok bool) {
	if q.peek(); q.context != nil && strings.HasPrefix(q.text[q.pos:], q.contextText) {
		q.pos += len(q.contextText)
		*into = q.context
		return true
	}
	start := q.pos
	for more := q.open('{', '}', &ok); more; more = q.more('}', &ok) {
		name, ok := q.string()
		if !ok || !q.take(':') {
			return false
		}
		value, ok := "", q.null()
		if !ok {
			value, ok = q.string()
		}
		if !ok {
			return false
		}
		if *into == nil {
			*into = q.newMap()
		}
		(*into)[name] = value
	}
	q.contextText, q.context = q.text[start:q.pos], *into
	return ok
}

// newMap returns an empty map, the spare one if there is one.
func (q *reader) newMap() map[string]string {
	if q.spare != nil {
		return q.spare
	}
	return make(map[string]string, 8)
}

// textField reads a string field. It fails if the field occurs a second time. A null
// leaves the string empty.
func (q *reader) textField(field int, met *int, into *string) (ok bool) {
	if !q.first(field, met) {
		return false
	}
	if q.null() {
		return true
	}
	*into, ok = q.string()
	return ok
}

// first adds the field to met, and reports whether it was not there before.
func (q *reader) first(field int, met *int) bool {
	before := *met
	*met |= field
	return before&field == 0
}

// name reads the name of a member and the colon.
func (q *reader) name() string {
	name, ok := q.string()
	if !ok || !q.take(':') {
		return "" // matches no field
	}
	return name
}

// open reads the start of an object or array and reports whether an item follows. If
// not, ok is set to whether the object or array has ended.
func (q *reader) open(begin, end byte, ok *bool) bool {
	if !q.take(begin) {
		return false
	}
	*ok = q.take(end)
	return !*ok
}

// more is like open, after an item.
func (q *reader) more(end byte, ok *bool) bool {
	if q.take(',') {
		return true
	}
	*ok = q.take(end)
	return false
}

// take reads c if it is the next byte that is not white space, and reports whether it
// was.
func (q *reader) take(c byte) bool {
	if q.peek() != c {
		return false
	}
	q.pos++
	return true
}

// peek returns the next byte that is not white space, or 0 at the end.
func (q *reader) peek() byte {
	for ; q.pos < len(q.text); q.pos++ {
		if c := q.text[q.pos]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

func (q *reader) null() bool { return q.peek() == 'n' && q.literal("null") }

// literal reads null, true or false at the current position.
func (q *reader) literal(text string) bool {
	if !strings.HasPrefix(q.text[q.pos:], text) {
		return false
	}
	q.pos += len(text)
	return true
}

// string reads a string without escapes.
func (q *reader) string() (text string, ok bool) {
	if !q.take('"') {
		return "", false
	}
	for i := q.pos; i < len(q.text); i++ {
		switch c := q.text[i]; {
		case c == '"':
			text, q.pos = q.text[q.pos:i], i+1
			return text, true
		case c < ' ' || c == '\\':
			return "", false
		case c >= utf8.RuneSelf:
			q.wide = true
		}
	}
	return "", false
}

// valid reports whether the input read so far is UTF-8.
func (q *reader) valid() bool { return !q.wide || utf8.ValidString(q.text[:q.pos]) }
