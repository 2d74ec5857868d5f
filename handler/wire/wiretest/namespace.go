package wiretest

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// SetNamespace sets the namespace of a request, or of the only item of a batch. It does
// nothing if the request has none.
func SetNamespace(m proto.Message, namespace string) { setNamespace(m.ProtoReflect(), namespace) }

func setNamespace(m protoreflect.Message, namespace string) {
	fields := m.Descriptor().Fields()
	if items := fields.ByName("requests"); items != nil {
		setNamespace(m.Mutable(items).List().AppendMutable().Message(), namespace)
	}
	for _, name := range []protoreflect.Name{"namespace_key", "key"} {
		if field := fields.ByName(name); field != nil {
			m.Set(field, protoreflect.ValueOfString(namespace))
			return
		}
	}
}
