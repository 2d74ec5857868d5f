package web

import (
	"bytes"
	"context"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/exchange"
)

// page is the model of a page. Its markup is in the .templ file beside the code that shows
// it; "make generate" turns it into Go code.
//
// Pages are not made with html/template: a program that can execute a template contains
// every exported method of all its types, which makes the AWS Lambda function 40 % larger.
type page interface {
	title() string
	main(s *Site) templ.Component
}

// reply responds with the page.
func (s *Site) reply(x *exchange.Exchange, status int, p page) {
	var body bytes.Buffer
	if err := s.layout(p.title(), p.main(s)).Render(context.Background(), &body); err != nil {
		panic(err) // components fail only if the context is canceled or the writer fails
	}
	x.Reply(status, "text/html; charset=utf-8", body.Bytes())
}
