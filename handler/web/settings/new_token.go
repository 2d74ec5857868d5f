package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// newTokenPage is the model of the form for a new token.
type newTokenPage struct {
	grantForm
	Name, Description string
	Expires           string // one of expiries
	Date              string // for "date"
	Sure              bool   // it may be valid forever
	Shown             string // when the form was shown, in microseconds since 1970
	Asks              bool   // whether it must be valid forever
	Problems          part.Problems
}

// expiries are the choices of when a token expires: after days, or by a rule of their own.
var expiries = part.Options("30", "In 30 days", "90", "In 90 days", "365", "In a year", "date", "On a date", "never", "Never")

// requireTokens returns an error with a page of its own unless the visitor can create tokens.
func requireTokens(v *page.Visit) error {
	if err := requireAdministrator(v); err != nil {
		return err
	}
	if !v.Site.Enabled(string(page.CreateToken)) {
		return &page.Error{
			Heading: "Static tokens are off",
			Text:    "To turn them on, set authentication.methods.token.enabled to true in the configuration of the server, and restart it.",
			Err:     guidon.Errorf(guidon.Unimplemented, "static tokens are disabled"),
		}
	}
	return nil
}

// showNewToken shows the form for a new token.
func showNewToken(v *page.Visit) error {
	p := newTokenPage{grantForm: grantForm{Role: service.RoleEvaluator.String(), Everywhere: true}, Expires: "90"}
	return p.show(v, http.StatusOK)
}

func (p newTokenPage) show(v *page.Visit, status int) error {
	p.Shown = cmp.Or(p.Shown, strconv.FormatInt(v.Site.Now().UnixMicro(), 10))
	return show(v, status, tokensSection, "New token", p.main(v))
}

// makeToken creates the token, and shows it in the response: once, and nowhere else.
func makeToken(v *page.Visit, form url.Values) error {
	p := readNewToken(form)
	request := p.check(v)
	if len(p.Problems) > 0 {
		return p.show(v, unprocessable)
	}
	if sent, err := p.sentBefore(v); err != nil {
		return err
	} else if sent {
		return show(v, http.StatusOK, tokensSection, "Token created", shownOnce(v, p.Name))
	}
	response, err := page.CreateToken.Run(v, request)
	if problems, ok := refusedAs(err, map[string]string{
		"name": "name", "description": "description", "namespaceKeys": "namespaces", "expiresAt": "date", "role": "role",
	}); ok {
		p.Problems = problems
		return p.show(v, unprocessable)
	}
	if err != nil {
		return err
	}
	created := createdToken{
		Name: p.Name, Token: response.GetClientToken(), Role: p.Role,
		Namespace: firstNamespace(v, request.GetNamespaceKeys()), Missing: missingNamespaces(v, request.GetNamespaceKeys()),
	}
	return show(v, http.StatusOK, tokensSection, "Token created", created.main(v))
}

// readNewToken returns the fields of the form that was sent.
func readNewToken(form url.Values) newTokenPage {
	return newTokenPage{
		grantForm: readGrant(form), Name: strings.TrimSpace(form.Get("name")), Description: strings.TrimSpace(form.Get("description")),
		Expires: form.Get("expires"), Date: form.Get("date"), Sure: form.Get("sure") != "", Shown: form.Get("shown"),
	}
}

// check adds the problems of the form, and returns the request.
func (p *newTokenPage) check(v *page.Visit) *auth.CreateTokenRequest {
	p.Problems.Add("name", page.CheckText(p.Name, "A name is needed, such as that of the service that sends the token."))
	p.Problems.Add("description", page.TooLong(p.Description, page.MaxText))
	p.grantForm.check(&p.Problems)
	request := &auth.CreateTokenRequest{
		Name: p.Name, Description: p.Description, Role: p.Role, NamespaceKeys: p.patterns(&p.Problems), ExpiresAt: p.expiry(v),
	}
	return request
}

// expiry returns when the token expires, or nil for never. It adds what is wrong to the
// problems.
func (p *newTokenPage) expiry(v *page.Visit) *timestamppb.Timestamp {
	switch p.Expires {
	case "30", "90", "365":
		days, _ := strconv.Atoi(p.Expires)
		return timestamppb.New(v.Site.Now().AddDate(0, 0, days))
	case "date":
		day, err := time.ParseInLocation(time.DateOnly, p.Date, v.Location())
		end := day.AddDate(0, 0, 1)
		switch {
		case err != nil:
			p.Problems.Add("date", "Write a date such as "+v.Now().AddDate(0, 6, 0).Format(time.DateOnly)+".")
		case !end.After(v.Now()):
			p.Problems.Add("date", "This is in the past.")
		}
		return timestamppb.New(end)
	case "never":
		if p.Asks = true; !p.Sure {
			p.Problems.Add("sure", "A token that never expires stays valid until somebody deletes it. Confirm that you want this, or choose a date.")
		}
	default:
		p.Problems.Add("expires", "Choose when the token expires.")
	}
	return nil
}

// sentBefore reports whether this form of the visitor has created its token already: the page
// was reloaded, or the button pressed twice.
func (p newTokenPage) sentBefore(v *page.Visit) (bool, error) {
	shown, err := strconv.ParseInt(p.Shown, 10, 64)
	if err != nil {
		return false, nil
	}
	list, err := page.ListChanges.Run(v, &guidonv1.ListChangesRequest{
		NamespaceKey: guidon.DefaultNamespace, // which makes no difference
		Kind:         string(change.KindAuthentication), Actor: v.Visitor.ActorID(),
		Since: timestamppb.New(time.UnixMicro(shown)), Limit: maxTokens,
	})
	for _, c := range list.GetChanges() {
		token := c.GetAfter().GetFields()
		name := token["metadata"].GetStructValue().GetFields()[service.MetadataTokenName].GetStringValue()
		if c.GetAction() == string(change.ActionCreate) && token["client"] == nil && name == p.Name {
			return true, nil
		}
	}
	return false, err
}

// firstNamespace returns the key of a namespace that the token is good for.
func firstNamespace(v *page.Visit, patterns []string) string {
	for _, pattern := range patterns {
		start, open := strings.CutSuffix(pattern, "*")
		if !open {
			return pattern
		}
		for _, n := range v.Namespaces {
			if strings.HasPrefix(n.GetKey(), start) && start != "" {
				return n.GetKey()
			}
		}
	}
	return guidon.DefaultNamespace
}

// createdToken is the model of the page with a new token.
type createdToken struct {
	Name, Token, Role, Namespace string

	Missing []string // keys of namespaces for which the token is, but which do not exist
}

// missingNamespaces returns the keys among the patterns that no namespace has.
func missingNamespaces(v *page.Visit, patterns []string) (missing []string) {
	for _, pattern := range patterns {
		if v.NamespaceWith(pattern) == nil && !strings.HasSuffix(pattern, "*") {
			missing = append(missing, pattern)
		}
	}
	return missing
}

// nextLine continues a command on the next line.
const nextLine = " \\\n  "

// command returns a command that tries the token.
func (c createdToken) command(v *page.Visit) string {
	header := nextLine + `-H "Authorization: Bearer ` + c.Token + `"`
	switch c.Role {
	case service.RoleEvaluator.String():
		return "curl " + v.Address() + "/ofrep/v1/evaluate/flags" + header +
			nextLine + `-H "Content-Type: application/json"` + c.namespaceHeader() + nextLine + `-d '{"context": {"targetingKey": "somebody"}}'`
	case service.RoleClient.String():
		return "curl " + v.Address() + page.Below("internal", "v1", "evaluation", "snapshot", "namespace", c.Namespace) + header
	}
	return "curl " + v.Address() + page.Below("api", "v1", "namespaces", c.Namespace, "flags") + header
}

// namespaceHeader returns the header with the namespace of an evaluation, unless that is
// the usual one.
func (c createdToken) namespaceHeader() string {
	if c.Namespace == guidon.DefaultNamespace {
		return ""
	}
	return nextLine + `-H "X-Guidon-Namespace: ` + c.Namespace + `"`
}
