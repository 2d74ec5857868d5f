package settings

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// newBindingPage is the model of the form that gives a role.
type newBindingPage struct {
	grantForm
	Subject  string
	Problems part.Problems
}

// showNewBinding shows the form that gives a role.
func showNewBinding(v *page.Visit) error {
	return newBindingPage{grantForm: grantForm{Role: service.RoleViewer.String(), Everywhere: true}}.show(v, http.StatusOK)
}

func (p newBindingPage) show(v *page.Visit, status int) error {
	return show(v, status, accessSection, "Give a role", p.main(v))
}

// makeBinding gives a role.
func makeBinding(v *page.Visit, form url.Values) error {
	p := newBindingPage{grantForm: readGrant(form), Subject: strings.TrimSpace(form.Get("subject"))}
	if _, err := service.ParseSubject(p.Subject); p.Subject == "" {
		p.Problems.Add("subject", "Say who gets the role.")
	} else if err != nil {
		rule := strings.TrimPrefix(guidon.PublicMessage(err), "invalid field subject: ")
		p.Problems = append(p.Problems, part.Problem{Field: "subject", Message: "This " + rule + ".", Brief: "This names nobody."})
	}
	p.grantForm.check(&p.Problems)
	request := &guidonv1.CreateBindingRequest{Role: p.Role, Subject: p.Subject, NamespaceKeys: p.patterns(&p.Problems)}
	if len(p.Problems) == 0 {
		_, err := page.CreateBinding.Run(v, request)
		if problems, ok := refusedAs(err, map[string]string{"subject": "subject", "namespaceKeys": "namespaces", "role": "role"}); ok {
			p.Problems = problems
		} else if err != nil {
			return err
		}
	}
	if len(p.Problems) > 0 {
		return p.show(v, unprocessable)
	}
	return v.Redirect(page.Below("settings", "access") + "?done=created")
}

// findBinding returns the binding of the address.
func findBinding(v *page.Visit) (*guidonv1.Binding, error) {
	list, err := page.ListBindings.Run(v, &emptypb.Empty{})
	if err != nil {
		return nil, err
	}
	all := list.GetBindings()
	if i := slices.IndexFunc(all, func(b *guidonv1.Binding) bool { return b.GetId() == v.Variable("id") }); i >= 0 {
		return all[i], nil
	}
	return nil, notFound("There is no such role", "It may have been taken away already.")
}

// askDeleteBinding asks whether to take a role away.
func askDeleteBinding(v *page.Visit, b *guidonv1.Binding) error {
	return show(v, http.StatusOK, accessSection, "Take a role away", bindingQuestion(v, b, ""))
}

// removeBinding takes a role away.
func removeBinding(v *page.Visit, b *guidonv1.Binding) error {
	_, err := page.DeleteBinding.Run(v, &guidonv1.DeleteBindingRequest{Id: b.GetId()})
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		return show(v, unprocessable, accessSection, "Take a role away", bindingQuestion(v, b, page.Sentence(guidon.PublicMessage(err))))
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("settings", "access") + "?done=deleted")
}
