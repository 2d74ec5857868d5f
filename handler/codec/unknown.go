package codec

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// UnknownField is a field in the JSON of a request that its message does not have.
type UnknownField struct {
	// Certain is set if the field is certainly a misspelled one: it is next to a percentage
	// that is missing, which clients may leave out to mean 0.
	Certain bool

	path, rule string
}

// Err returns the error for the field.
func (u *UnknownField) Err() error {
	return guidon.Errorf(guidon.InvalidArgument, "invalid field %s: %s", u.path, u.rule)
}

// Within states that the field is in another one: outer is its name, or its path.
func (u *UnknownField) Within(outer string) {
	if !strings.HasPrefix(u.path, "[") {
		outer += "."
	}
	u.path = outer + u.path
}

// shares are the messages of Flipt v1 with a percentage, and its field.
var shares = map[protoreflect.FullName]protoreflect.Name{
	"flipt.RolloutThreshold":          "percentage",
	"flipt.CreateDistributionRequest": "rollout",
	"flipt.UpdateDistributionRequest": "rollout",
}

// returned are the fields of flags and segments in responses that requests with flags and
// segments lack. They are ignored, so that clients can edit a response and send it back.
var returned = map[protoreflect.FullName][]string{
	"guidon.v1.ReplaceFlagRequest":    {"createdAt", "updatedAt", "unreadable", "omitted"},
	"guidon.v1.ReplaceSegmentRequest": {"createdAt", "updatedAt"},
	"guidon.v1.PreviewFlagRequest":    {"createdAt", "updatedAt", "unreadable", "omitted"},
	"guidon.v1.PreviewSegmentRequest": {"createdAt", "updatedAt"},
}

// unknown returns the field of the name, which the message does not have. stated says whether
// the message states its percentage, if it has one.
func (p *plan) unknown(name string, stated bool) *UnknownField {
	u := &UnknownField{path: name, rule: "is not known"}
	if p.share != nil && !stated {
		u.Certain, u.rule = true, "is not known, and "+p.share.JSONName()+" is missing"
	}
	u.rule += lists.DidYouMean(name, slices.Sorted(maps.Keys(p.byName)))
	return u
}

// note keeps the unknown field, unless another one was found that is not less certain.
func (s *scanner) note(u *UnknownField) {
	if s.unknown == nil || u.Certain && !s.unknown.Certain {
		s.unknown = u
	}
}
