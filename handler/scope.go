package handler

import (
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// checkScope returns Unauthenticated if the authentication is limited to a namespace and
// the request is not about that namespace alone (operations 1.6).
func checkScope(a *service.Authentication, o *Operation, m proto.Message) error {
	namespace, limited := a.Scope()
	if !limited || o.Area.scoped() && aboutOnly(m, namespace) {
		return nil
	}
	return unauthenticated("the token is limited to another namespace")
}

// scoped reports whether tokens that are limited to a namespace can be used in the area.
func (a Area) scoped() bool { return a == AreaManagement || a == AreaEvaluation }

// aboutOnly reports whether the request is about the namespace and no other.
func aboutOnly(m proto.Message, namespace string) bool {
	same := func(key string) bool { return guidon.NamespaceKey(key) == namespace }
	switch m := m.(type) {
	// In requests about a namespace itself, the key names it.
	case *flipt.GetNamespaceRequest:
		return same(m.GetKey())
	case *flipt.CreateNamespaceRequest:
		return same(m.GetKey())
	case *flipt.UpdateNamespaceRequest:
		return same(m.GetKey())
	case *flipt.DeleteNamespaceRequest:
		return same(m.GetKey())
	case *evaluation.EvaluationNamespaceSnapshotRequest:
		return same(m.GetKey())
	case *evaluation.BatchEvaluationRequest:
		for _, item := range m.GetRequests() {
			if !same(item.GetNamespaceKey()) {
				return false
			}
		}
		return len(m.GetRequests()) > 0
	case *flipt.BatchEvaluationRequest:
		for _, item := range m.GetRequests() {
			if key := item.GetNamespaceKey(); key != "" && !same(key) {
				return false
			}
		}
		return len(m.GetRequests()) > 0 && same(m.GetNamespaceKey())
	case interface{ GetNamespaceKey() string }:
		return same(m.GetNamespaceKey())
	}
	return false // a request without a namespace
}
