package settings

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// accessPage is the model of the list of bindings.
type accessPage struct {
	Bindings []*guidonv1.Binding // of this page
	Total    int
	Page     int // from 1
	Enforced bool
	Done     string // the last action in words, or ""
	SignedIn []signedIn
	More     bool // there may be more than SignedIn, and more sessions of these
}

// signedIn is a user with sessions, or a workload with tokens.
type signedIn struct {
	Subject, Name string
	Count         int
}

// showAccess lists the roles that bindings grant, and the signed-in accounts.
func showAccess(v *page.Visit) error {
	list, err := page.ListBindings.Run(v, &emptypb.Empty{})
	if err != nil {
		return err
	}
	configured, err := readConfiguration(v)
	if err != nil {
		return err
	}
	p := accessPage{Enforced: configured.Authorization.Required, Total: len(list.GetBindings()), Done: doneTexts[v.Query().Get("done")]}
	p.Page, p.Bindings = pageOf(v, list.GetBindings())
	if p.SignedIn, p.More, err = readSignedIn(v); err != nil {
		return err
	}
	return show(v, http.StatusOK, accessSection, "", p.main(v))
}

// doneTexts say what was done, by the field of the address.
var doneTexts = map[string]string{
	"created": "The role was given.", "deleted": "The role was taken away.", "ended": "All sessions and tokens of the account were ended.",
}

// pageOf returns the items of the page in the address, with the number of the page, from 1.
func pageOf[T any](v *page.Visit, all []T) (number int, items []T) {
	if number = page.PageOf(v.Query()); number > pages(len(all)) {
		number = 1
	}
	start := (number - 1) * maxRows
	return number, all[start:min(start+maxRows, len(all))]
}

// pages returns how many pages a number of items has.
func pages(total int) int { return (total-1)/maxRows + 1 }

// maxSignedIn limits the accounts that the page lists.
const maxSignedIn = 50

// maxReadPages limits how many pages of tokens and sessions are read for the list of accounts.
const maxReadPages = 10

// readSignedIn returns the accounts with sessions or tokens by other methods than static
// tokens, among the oldest tokens and sessions, and whether there are more.
func readSignedIn(v *page.Visit) (found []signedIn, more bool, err error) {
	at := make(map[string]int)
	request := &auth.ListAuthenticationsRequest{Limit: maxTokens}
	for range maxReadPages {
		list, err := page.ListAuthentications.Run(v, request)
		if err != nil {
			return nil, false, err
		}
		for _, a := range list.GetAuthentications() {
			subject := a.GetSubject()
			if subject == "" || hasExpired(v, a) {
				continue
			}
			i, known := at[subject]
			switch {
			case known:
				found[i].Count++
			case len(found) == maxSignedIn:
				return found, true, nil
			default:
				at[subject] = len(found)
				found = append(found, signedIn{subject, accountName(a.GetMetadata(), subject), 1})
			}
		}
		if request.PageToken = list.GetNextPageToken(); request.PageToken == "" {
			return found, false, nil
		}
	}
	return found, true, nil
}

// accountName returns the name of an account, or its subject.
func accountName(metadata map[string]string, subject string) string {
	for _, key := range []string{"io.service.auth.name", metadataEmail} {
		if name := page.Printable(metadata[key], maxShown); name != "" {
			return name
		}
	}
	return page.Printable(subject, maxShown)
}

// isConfigured reports whether the binding is in the configuration of the server.
func isConfigured(b *guidonv1.Binding) bool { return b.GetSource() == service.SourceConfiguration }

// whom returns the subject of a binding in words.
func whom(subject string) string {
	method, rest, _ := strings.Cut(subject, ":")
	by := methodNames[method]
	if method == "oidc" {
		provider, other, _ := strings.Cut(rest, ":")
		by, rest = provider, other
	}
	kind, value, _ := strings.Cut(rest, ":")
	if kind == "*" {
		return "Everyone by " + by
	}
	if word := subjectWords[method+":"+kind]; word != "" {
		return word + " " + value + " (" + by + ")"
	}
	return subject
}

// methodNames are the methods of subjects in words.
var methodNames = map[string]string{"codehost": "the code host", "kubernetes": "Kubernetes", "jwt": "JWT"}

// subjectWords are the kinds of subjects in words.
var subjectWords = map[string]string{
	"oidc:sub": "Account", "oidc:email": "E-mail", "oidc:domain": "E-mail domain", "oidc:group": "Group",
	"codehost:id": "Account", "codehost:email": "E-mail", "codehost:domain": "E-mail domain", "codehost:org": "Organization",
	"codehost:team":        "Team",
	"kubernetes:namespace": "Service accounts in", "kubernetes:serviceaccount": "Service account",
	"jwt:sub": "Account", "jwt:group": "Group", "jwt:claim": "Claim",
}
