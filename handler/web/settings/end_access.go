package settings

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// endPage is the model of the page that asks whether to end everything of an account.
type endPage struct {
	Subject  string
	Name     string
	Count    int
	More     bool // there are more than Count
	Refused  string
	Problems part.Problems
}

func (p endPage) show(v *page.Visit, status int) error {
	return show(v, status, accessSection, "End all sessions", p.main(v))
}

// askEndAccess asks whether to end everything of the account in the address, or which one.
func askEndAccess(v *page.Visit) error {
	p := endPage{Subject: strings.TrimSpace(v.Query().Get("subject"))}
	if err := p.count(v); err != nil {
		return err
	}
	return p.show(v, http.StatusOK)
}

// count finds out how many sessions and tokens the account has.
func (p *endPage) count(v *page.Visit) error {
	if p.Subject == "" {
		return nil
	}
	list, err := page.ListAuthentications.Run(v, &auth.ListAuthenticationsRequest{Subject: p.Subject, Limit: maxTokens})
	if err != nil {
		return err
	}
	all := list.GetAuthentications()
	p.Count, p.More = len(all), list.GetNextPageToken() != ""
	if len(all) == 0 {
		p.Problems.Add("subject", "No account “"+page.Printable(p.Subject, maxShown)+"” has a session or token.")
		return nil
	}
	p.Name = accountName(all[0].GetMetadata(), p.Subject)
	return nil
}

// endAccess ends everything of an account.
func endAccess(v *page.Visit, form url.Values) error {
	p := endPage{Subject: strings.TrimSpace(form.Get("subject"))}
	if page.ActionOf(form).Verb != "confirm" { // the visitor has not confirmed yet
		return v.Redirect(page.Below("settings", "end-access") + "?" + url.Values{"subject": {p.Subject}}.Encode())
	}
	_, err := page.DeleteAuthentications.Run(v, &guidonv1.DeleteAuthenticationsRequest{Subject: p.Subject})
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		p.Refused = page.Sentence(guidon.PublicMessage(err))
		if err := p.count(v); err != nil {
			return err
		}
		return p.show(v, unprocessable)
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("settings", "access") + "?done=ended")
}
