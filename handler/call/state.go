package call

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// takeReference replaces the reference in the message of an operation that reads states,
// "shop@412" in place of the key, by the key of the namespace, and keeps the rest of it in r.
// So everything after it sees only the key, in particular the checks of permissions. The
// response then has an ETag, so that If-None-Match applies.
//
// It returns an error if the reference is malformed, or if the operation does not read
// states. The caller must be authenticated before it learns of the error. Requests for
// evaluations are not checked: a reference is not the key of a namespace, so none is found.
func (r *Request) takeReference(o *Operation) error {
	if r.Message == nil || o.Has(ServesStale) || o.Area != AreaManagement && o.Area != AreaWebhooks {
		return nil
	}
	if !o.Has(ReadsStates) {
		return rejectReferences(r.Message)
	}
	descriptor := r.Message.ProtoReflect().Descriptor()
	var err, errWith error
	if field := NamespaceField(descriptor); field != nil {
		r.at, err = r.cutReference(field)
	}
	if _, pair := r.Message.(compares); pair {
		r.with, errWith = r.cutReference(descriptor.Fields().ByName("with"))
	}
	return cmp.Or(err, errWith)
}

// compares is a request about two namespaces, of which the second one is in the field with.
type compares interface{ GetWith() string }

// cutReference removes the moment from the reference in the field, and returns it. It changes
// a copy of the message: the original belongs to the caller, who may send it again.
func (r *Request) cutReference(field protoreflect.FieldDescriptor) (service.Moment, error) {
	text := r.Message.ProtoReflect().Get(field).String()
	key, past := service.ReferenceKey(text)
	if !past {
		return service.Moment{}, nil
	}
	r.Message = proto.Clone(r.Message)
	r.Message.ProtoReflect().Set(field, protoreflect.ValueOfString(guidon.NamespaceKey(key)))
	ref, err := service.ParseReference(text)
	return ref.At, err
}

// NamespaceField returns the field with the key of the namespace in requests for one
// namespace, or nil.
func NamespaceField(request protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	name := protoreflect.Name("namespace_key")
	if request.FullName() == getNamespace {
		name = "key"
	}
	return request.Fields().ByName(name)
}

var getNamespace = new(flipt.GetNamespaceRequest).ProtoReflect().Descriptor().FullName()

// rejectReferences returns an error if the request names a state instead of a namespace. It
// ignores the keys of new namespaces, which have rules of their own.
func rejectReferences(m proto.Message) error {
	if _, is := m.(*flipt.CreateNamespaceRequest); is {
		return nil
	}
	for namespace := range namespaces(m) {
		if _, past := service.ReferenceKey(namespace); past {
			return service.ErrReference(namespace)
		}
	}
	return nil
}

// orReference returns err, why an identified caller may not call the operation. If the
// request has a reference instead of a key, that is the reason.
func (r *Request) orReference(err error) error {
	if about := r.about(); err != nil && strings.Contains(about, "@") {
		return service.ErrReference(about)
	}
	return err
}

// view returns the state that the request is about, of a namespace that must exist if existing
// is set.
func (r *Request) view(ctx context.Context, s *service.Service, d service.Demand, existing bool) (service.View, error) {
	switch {
	case !r.at.IsCurrent():
		return s.ViewAt(ctx, service.Reference{Namespace: r.about(), At: r.at}, d, r.Admit)
	case existing:
		return s.View(ctx, r.about(), d)
	}
	return s.ViewOrEmpty(ctx, r.about(), d)
}

// viewPair returns the two states that the request is about. A revision that d demands is
// of the first one, which the response is about.
func (r *Request) viewPair(ctx context.Context, s *service.Service, d service.Demand, with string) (before, after service.View, err error) {
	if before, err = r.view(ctx, s, d, true); err != nil {
		return before, after, err
	}
	d.AtLeast = 0
	after, err = s.ViewAt(ctx, service.Reference{Namespace: with, At: r.with}, d, r.Admit)
	return before, after, err
}

// OfPast reports whether a state that the request is about was named by a reference.
func (r *Request) OfPast() bool { return !r.at.IsCurrent() || !r.with.IsCurrent() }

// tag sets the ETag of the response from states of which one was named by a reference, and
// drops the message if the client has it. The stamp of a revision distinguishes states of a
// database that was restored from a backup, and the epoch those at different times. If the
// operation has set an ETag, for what depends on more than the states, it is a part of it.
func (r *Request) tag(o *Operation, response *Response, states ...*guidon.Snapshot) {
	if !r.OfPast() {
		return
	}
	var tags []string
	for _, s := range states {
		tags = append(tags, fmt.Sprintf("%d-%x", s.Revision().Number, uint64(s.Revision().Stamp))) // #nosec G115 -- only its bits matter
		if s.Epoch() != 0 {
			tags = append(tags, strconv.FormatInt(s.Epoch(), 10))
		}
	}
	if response.ETag != "" {
		tags = append(tags, response.ETag)
	}
	response.ETag = strings.Join(tags, "-")
	if MatchesETag(r.IfNoneMatch, response.ETag) {
		response.NotModified, response.Answer, response.Message = true, nil, o.newResponse()
	}
}

// MatchesETag reports whether the header If-None-Match contains the ETag. Flipt v1
// clients return the ETag as they received it, without quotes (contract 9.3). The forms
// of RFC 9110 13.1.2 are accepted too and compared weakly, because a proxy may have
// rewritten the ETag. An empty ETag matches nothing.
func MatchesETag(header, etag string) bool {
	if header == "" || etag == "" {
		return false
	}
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.Trim(strings.TrimPrefix(item, "W/"), `"`) == etag {
			return true
		}
	}
	return false
}
