package call

import (
	"cmp"
	"errors"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// checkScope returns an error if the authentication is limited to a namespace and the
// request is not about that namespace alone: Unauthenticated (operations 1.6), unless the
// payload decides.
func checkScope(a *service.Authentication, o *Operation, request *Request) error {
	namespace, limited := a.Scope()
	if !limited {
		return nil
	}
	if c := request.confined(); c != nil {
		return c.Confine(namespace)
	}
	if o.AreaOf(request).scoped() && aboutOnly(request.Message, namespace) {
		return nil
	}
	if other := outside(request.Message, namespace); other != "" {
		return service.Refusal(service.RoleViewer, other)
	}
	return unauthenticated(ErrLimited)
}

// ErrLimited is the reason for which a valid token is refused that is limited to another
// namespace than that of the request.
var ErrLimited = errors.New("the token is limited to another namespace")

// AreaOf returns the area of a request for the operation. It is that of the operation,
// unless the request is for the change records of tokens, bindings or webhooks: these are in
// the area of the tokens.
func (o *Operation) AreaOf(request *Request) Area {
	if m, ok := request.Message.(*guidonv1.ListChangesRequest); ok && change.Kind(m.GetKind()).Global() {
		return AreaAuthentication
	}
	return o.Area
}

// scoped reports whether tokens that are limited to a namespace can be used in the area.
func (a Area) scoped() bool {
	return a == AreaManagement || a == AreaEvaluation || a == AreaWebhooks
}

// outside returns the other namespace that a request about the namespace also reads, or ""
// if it reads no other. The token is valid for its own namespace, so the refusal is that of a
// missing role.
func outside(m proto.Message, namespace string) string {
	about, ok := m.(interface{ GetNamespaceKey() string })
	if !ok || guidon.NamespaceKey(about.GetNamespaceKey()) != namespace {
		return ""
	}
	if c, ok := m.(*guidonv1.CompareRequest); ok {
		return c.GetWith()
	}
	return sourceOf(m)
}

// aboutOnly reports whether the request is about the namespace and no other.
func aboutOnly(m proto.Message, namespace string) bool {
	named := false
	for key := range namespaces(m) {
		if key != namespace {
			return false
		}
		named = true
	}
	source := sourceOf(m)
	return named && (source == "" || source == namespace)
}

// sourceOf returns the namespace that a plan brings objects from, or "" if it names none.
func sourceOf(m proto.Message) string {
	r, ok := m.(interface{ GetSourceNamespaceKey() string })
	if !ok || r.GetSourceNamespaceKey() == "" {
		return ""
	}
	key, _ := service.ReferenceKey(r.GetSourceNamespaceKey())
	return guidon.NamespaceKey(key)
}

// namespaces returns the namespaces that the request is about, its own and those of its
// items. There are none in a request about no namespace, or in an empty batch.
func namespaces(m proto.Message) iter.Seq[string] {
	return func(yieldNamespace func(string) bool) {
		yield := func(key string) bool { return yieldNamespace(guidon.NamespaceKey(key)) }
		switch m := m.(type) {
		// In requests about a namespace itself, the key names it.
		case *flipt.GetNamespaceRequest, *flipt.CreateNamespaceRequest, *flipt.UpdateNamespaceRequest, *flipt.DeleteNamespaceRequest,
			*evaluation.EvaluationNamespaceSnapshotRequest:
			yield(m.(interface{ GetKey() string }).GetKey())
		case *evaluation.BatchEvaluationRequest:
			for _, item := range m.GetRequests() {
				if !yield(item.GetNamespaceKey()) {
					return
				}
			}
		case *flipt.BatchEvaluationRequest:
			for i, item := range m.GetRequests() {
				if i == 0 && !yield(m.GetNamespaceKey()) {
					return
				}
				if key := item.GetNamespaceKey(); key != "" && !yield(key) {
					return
				}
			}
		case *guidonv1.ListWebhooksRequest, *guidonv1.CreateWebhookRequest, *guidonv1.WebhookRequest, *guidonv1.UpdateWebhookRequest,
			*guidonv1.RotateWebhookSecretRequest, *guidonv1.ReplayWebhookRequest, *guidonv1.ListDeliveriesRequest:
			yield(cmp.Or(m.(interface{ GetNamespaceKey() string }).GetNamespaceKey(), service.Everywhere))
		case *guidonv1.ListFlagNamespacesRequest:
			yield(m.GetReference())
		case *guidonv1.CompareRequest:
			if yield(m.GetNamespaceKey()) && m.GetWith() != "" {
				yield(m.GetWith())
			}
		case interface{ GetNamespaceKey() string }:
			yield(m.GetNamespaceKey())
		}
	}
}
