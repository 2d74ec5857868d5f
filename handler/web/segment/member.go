package segment

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxContext limits the properties of a context (that of an operation has the same limit).
const maxContext = 1000

// answer says whether an entity is in a segment.
type answer struct {
	Segment *guidonv1.ExplainedSegment
	Drafted bool // it is not saved
}

// ask answers whether the entity is in the segment, saved or drafted.
func (s *subject) ask(d *draft, drafted bool, problems *part.Problems) (*answer, error) {
	request := &guidonv1.ExplainSegmentRequest{NamespaceKey: s.reference(), Key: s.Key, EntityId: d.Entity}
	if drafted {
		request.Segment = d.document()
	}
	if message := readContext(request, d.Context); message != "" {
		problems.Add("context", message)
		return nil, nil
	}
	response, err := page.ExplainSegment.Run(s.Visit, request)
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		problems.Add("context", page.Sentence(page.Printable(guidon.PublicMessage(err), 300)))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &answer{response.GetSegment(), drafted}, nil
}

// readContext sets the context of the request from lines such as "country=SE", or from a JSON
// object. It returns the problem of the text, or "".
func readContext(request *guidonv1.ExplainSegmentRequest, text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		read := new(guidonv1.ExplainSegmentRequest)
		if err := codec.Unmarshal([]byte(`{"context":`+text+`}`), read, 10*maxContext); err != nil {
			return "This JSON object cannot be read: " + page.Printable(guidon.PublicMessage(err), 200) + "."
		}
		request.Context = read.GetContext()
		return ""
	}
	request.Context = make(map[string]string)
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		property, value, ok := strings.Cut(line, "=")
		if property = strings.TrimSpace(property); !ok || property == "" {
			return fmt.Sprintf("Line %d: write a property and its value, such as country=SE, or one JSON object.", number)
		}
		request.Context[property] = strings.TrimSpace(value)
	}
	return ""
}
