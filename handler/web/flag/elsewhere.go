package flag

import (
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// elsewhere is a flag of the same key in another namespace.
type elsewhere struct {
	name, address string
	same          bool
}

// maxElsewhere limits the namespaces that are searched for flags of the same key.
const maxElsewhere = 50

// readElsewhere returns the flags of the same key in the other namespaces that the visitor
// may see. Namespaces that cannot be read are left out.
func (s *subject) readElsewhere() (found []elsewhere) {
	for _, n := range s.v.Namespaces[:min(len(s.v.Namespaces), maxElsewhere)] {
		if n.GetKey() == s.v.Key() {
			continue
		}
		content, err := getFlagContent.Run(s.v, &guidonv1.GetFlagContentRequest{NamespaceKey: n.GetKey(), Key: s.key})
		if err != nil {
			continue
		}
		found = append(found, elsewhere{
			page.NamespaceName(n), s.v.To("namespaces", n.GetKey(), "flags", s.key), proto.Equal(content.GetFlag(), s.flag),
		})
	}
	return found
}
