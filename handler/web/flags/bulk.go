package flags

import "github.com/guidonhq/guidon/handler/web/page"

func changeSome(v *page.Visit) error { return nil }
