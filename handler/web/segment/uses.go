package segment

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// showUses shows the flags that use the segment.
func showUses(v *page.Visit, s *subject) (err error) {
	if token := v.Query().Get("after"); token != "" {
		request := &guidonv1.GetSegmentUsageRequest{NamespaceKey: s.reference(), Key: s.Key, Limit: maxUses, PageToken: token}
		if s.Usage, err = page.GetSegmentUsage.Run(v, request); err != nil {
			return err
		}
	}
	return v.Reply(http.StatusOK, s.page("Used by", s.usesMain()))
}

// maxUses is how many flags a page lists.
const maxUses = 50
