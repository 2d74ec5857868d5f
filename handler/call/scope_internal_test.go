package call

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestAbout fills in the namespace of every request. What is read and checked is that of
// the request's about: a request that it does not know would be about the default
// namespace.
func TestAbout(t *testing.T) {
	without := []protoreflect.Name{"ListNamespaces"} // concerns all namespaces
	found := 0
	for _, method := range namespaceMethods() {
		if slices.Contains(without, method.Name()) {
			continue
		}
		found++
		message, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			t.Fatal(err)
		}
		m := message.New()
		setNamespace(m, "shop")
		if got := (&Request{Message: m.Interface()}).about(); got != "shop" {
			t.Errorf("%s: got %q", method.Name(), got)
		}
		if !aboutOnly(m.Interface(), "shop") || aboutOnly(m.Interface(), "other") {
			t.Errorf("%s: a token that is limited to its namespace is not accepted, or another one is", method.Name())
		}
	}
	if found < 40 {
		t.Errorf("only %d methods", found)
	}
}

// setNamespace sets the namespace of a request, or of the only item of a batch. It does nothing
// if the request has none.
func setNamespace(m protoreflect.Message, namespace string) {
	fields := m.Descriptor().Fields()
	if items := fields.ByName("requests"); items != nil {
		setNamespace(m.Mutable(items).List().AppendMutable().Message(), namespace)
	}
	names := []protoreflect.Name{"namespace_key", "key"}
	if m.Descriptor().Name() == "ListFlagNamespacesRequest" {
		names = []protoreflect.Name{"reference"} // its key is that of a flag
	}
	for _, name := range names {
		if field := fields.ByName(name); field != nil {
			m.Set(field, protoreflect.ValueOfString(namespace))
			return
		}
	}
}

// namespaceMethods returns the methods whose requests are about namespaces.
func namespaceMethods() (methods []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		name := string(file.Package())
		if name != "flipt" && name != "flipt.evaluation" && !strings.HasPrefix(name, "guidon.") {
			return true
		}
		for i := range file.Services().Len() {
			if s := file.Services().Get(i); s.Name() == "SessionService" || s.Name() == "AccessService" {
				continue
			}
			all := file.Services().Get(i).Methods()
			for j := range all.Len() {
				methods = append(methods, all.Get(j))
			}
		}
		return true
	})
	return methods
}
