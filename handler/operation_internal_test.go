package handler

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestAbout fills in the namespace of every request. What is read and checked is that of
// [Request.about]: a request that it does not know would be about the default namespace.
func TestAbout(t *testing.T) {
	without := []string{"ListNamespaces"} // concerns all namespaces
	for _, o := range Operations() {
		if o.Area != AreaManagement && o.Area != AreaEvaluation || slices.Contains(without, o.Method()) {
			continue
		}
		m := o.newRequest()
		setNamespace(m.ProtoReflect(), "shop")
		if got := (&Request{Message: m}).about(); got != "shop" {
			t.Errorf("%s: got %q", o.Method(), got)
		}
		if !aboutOnly(m, "shop") || aboutOnly(m, "other") {
			t.Errorf("%s: a token that is limited to its namespace is not accepted, or another one is", o.Method())
		}
	}
}

// setNamespace sets the namespace of a request, or of the only item of a batch.
func setNamespace(m protoreflect.Message, namespace string) {
	fields := m.Descriptor().Fields()
	if items := fields.ByName("requests"); items != nil {
		item := m.Mutable(items).List().AppendMutable()
		setNamespace(item.Message(), namespace)
	}
	for _, name := range []protoreflect.Name{"namespace_key", "key"} {
		if field := fields.ByName(name); field != nil {
			m.Set(field, protoreflect.ValueOfString(namespace))
			return
		}
	}
}
