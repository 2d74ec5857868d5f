package flag

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// membersOf returns the metadata of a flag in their order.
func membersOf(f *guidonv1.DocumentFlag) []page.Member { return page.Members(f.GetMetadata()) }

// metadataText returns the text of a member, or "".
func metadataText(f *guidonv1.DocumentFlag, key string) string {
	for _, m := range membersOf(f) {
		if m.Key == key {
			text, _ := m.Text()
			return text
		}
	}
	return ""
}

// maxInline limits how much of a long value a page shows, in bytes.
const maxInline = 2 << 10
