package web

import (
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// maxName limits the names on pages, in bytes.
const maxName = 128

// whoami returns the visitor, or Unauthenticated if the browser has no valid session.
func whoami(v *page.Visit) (page.Visitor, error) {
	if !v.Site.Session.In(v.Request.Header["Cookie"]) {
		return page.Visitor{}, call.Unauthenticated("the browser has no session")
	}
	response, err := run(v, getSelf, &emptypb.Empty{}, "")
	if err != nil {
		return page.Visitor{}, err
	}
	a := response.Message.(*auth.Authentication)
	return page.Visitor{Name: page.NameOf(a.GetMetadata()), Token: a.GetMethod() == auth.Method_METHOD_TOKEN}, nil
}
