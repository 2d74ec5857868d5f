package service

import (
	"regexp"
	"strings"
)

// The first part of a subject is its method, the second part of one of OpenID Connect is
// the name of the provider: a claim of one provider must not match that of another one.
const (
	subjectOIDC       = "oidc"
	subjectCodehost   = "codehost"
	subjectKubernetes = "kubernetes"
	subjectJWT        = "jwt"
)

// AnySubject is the last part of the subjects that match every identity of a method or
// provider, such as "oidc:google:*".
const AnySubject = "*"

// subjectForm is the form of the values of one kind of subject.
type subjectForm struct {
	valid func(value string) bool
	rule  string
	fold  bool // case does not matter, so the value is in lower case
}

var (
	textForm = subjectForm{valid: func(value string) bool { return value != "" && value != AnySubject },
		rule: "must name one, without patterns"}
	nameForm   = subjectForm{valid: textForm.valid, rule: textForm.rule, fold: true}
	emailForm  = subjectForm{valid: IsEmail, rule: "must be an e-mail address such as ada@example.com", fold: true}
	domainForm = subjectForm{valid: IsDomain, rule: "must be a domain such as example.com", fold: true}
)

// subjectForms maps methods and kinds to the form of their values.
var subjectForms = map[string]map[string]subjectForm{
	subjectOIDC: {"sub": textForm, "email": emailForm, "domain": domainForm, "group": textForm},
	subjectCodehost: {
		"id": {valid: regexp.MustCompile(`^[0-9]{1,20}$`).MatchString, rule: "must be the number of a user"}, "email": emailForm,
		"domain": domainForm,
		"org":    nameForm,
		"team":   {valid: isPair, rule: "must be an organization and a team such as acme/backend", fold: true},
	},
	subjectKubernetes: {
		"namespace":      {valid: isKubernetesNamespace, rule: "must be the name of a Kubernetes namespace"},
		"serviceaccount": {valid: IsServiceAccount, rule: "must be a Kubernetes namespace and a service account such as shop/checkout"},
	},
	subjectJWT: {"sub": textForm, "group": textForm,
		"claim": {valid: isClaim, rule: "must be the name of a claim and its value such as team=payments"}},
}

const subjectRule = "must have one of the forms oidc:<provider>:{sub|email|domain|group}:<value>, codehost:{id|email|domain|org|team}:<value>, " +
	"kubernetes:namespace:<namespace>, kubernetes:serviceaccount:<namespace>/<name>, jwt:{sub|group}:<value>, jwt:claim:<name>=<value>, " +
	"oidc:<provider>:*, codehost:*, kubernetes:* or jwt:*"

// ParseSubject returns the subject as bindings have it, with e-mail addresses, domains, and
// organizations and teams of a code host in lower case. It returns InvalidArgument unless it has one of these forms:
//
//	oidc:<provider>:{sub|email|domain|group}:<value>
//	codehost:{id|email|domain|org|team}:<value>
//	kubernetes:namespace:<namespace>, kubernetes:serviceaccount:<namespace>/<name>
//	jwt:{sub|group}:<value>, jwt:claim:<name>=<value>
//	oidc:<provider>:*, codehost:*, kubernetes:*, jwt:*
func ParseSubject(subject string) (string, error) {
	subject = foldSubject(subject)
	if err := checkSubject(subject); err != nil {
		return "", err
	}
	return subject, nil
}

// SubjectProvider returns the name of the OpenID provider that vouches for the subject,
// and whether there is one.
func SubjectProvider(subject string) (string, bool) {
	method, rest, _ := strings.Cut(subject, ":")
	provider, _, ok := strings.Cut(rest, ":")
	return provider, ok && method == subjectOIDC
}

// SubjectMethod returns the first part of the subject, such as "oidc".
func SubjectMethod(subject string) string {
	method, _, _ := strings.Cut(subject, ":")
	return method
}

// splitSubject returns the parts of a subject. One for every identity has the kind AnySubject.
func splitSubject(subject string) (method, provider, kind, value string) {
	method, rest, _ := strings.Cut(subject, ":")
	if method == subjectOIDC {
		provider, rest, _ = strings.Cut(rest, ":")
	}
	kind, value, _ = strings.Cut(rest, ":")
	return method, provider, kind, value
}

// foldSubject returns the subject with the value in lower case if its case does not matter.
func foldSubject(subject string) string {
	method, _, kind, value := splitSubject(subject)
	if !subjectForms[method][kind].fold {
		return subject
	}
	return strings.TrimSuffix(subject, value) + FoldCase(value)
}

// checkSubject returns InvalidArgument unless [ParseSubject] could have returned the
// subject.
func checkSubject(subject string) error {
	const name = "subject"
	if err := checkTexts(field{name, subject}); err != nil {
		return err
	}
	method, provider, kind, value := splitSubject(subject)
	form, known := subjectForms[method][kind]
	switch every := subjectForms[method] != nil && kind == AnySubject && value == "" && strings.HasSuffix(subject, AnySubject); {
	case !known && !every:
		return invalidField(name, subjectRule)
	case method == subjectOIDC && !IsProviderName(provider):
		return invalidField(name, "must name a provider, of at most 32 lower-case letters, digits, _ and -, beginning with a letter or digit")
	case every:
		return nil
	case !IsClean(value):
		return invalidField(name, "must not contain control characters")
	case !form.valid(value) || form.fold && FoldCase(value) != value:
		return invalidField(name, form.rule)
	}
	return checkLength(name, value)
}

const maxProviderName = 32

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// IsProviderName reports whether an OpenID provider may have the name.
func IsProviderName(name string) bool {
	return len(name) <= maxProviderName && providerName.MatchString(name)
}

var domainPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// IsDomain reports whether the text is a domain of ASCII characters, in any case.
func IsDomain(text string) bool { return domainPattern.MatchString(text) }

// IsEmail reports whether the text is an e-mail address with such a domain.
func IsEmail(text string) bool {
	local, host, ok := strings.Cut(text, "@")
	return ok && local != "" && !strings.ContainsAny(local, "* ") && IsDomain(host)
}

func isPair(text string) bool {
	left, right, ok := strings.Cut(text, "/")
	return ok && left != "" && right != "" && left != AnySubject && right != AnySubject
}

// kubernetesName is a name of Kubernetes: labels of RFC 1123 with dots between them.
var kubernetesName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

const (
	maxKubernetesName  = 253
	maxKubernetesLabel = 63
)

// isKubernetesNamespace reports whether the text is a single label.
func isKubernetesNamespace(text string) bool {
	return len(text) <= maxKubernetesLabel && !strings.Contains(text, ".") && kubernetesName.MatchString(text)
}

// IsServiceAccount reports whether the text is a Kubernetes namespace and the name of a
// service account, such as "shop/checkout".
func IsServiceAccount(text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	return isKubernetesNamespace(namespace) && len(name) <= maxKubernetesName && kubernetesName.MatchString(name)
}

func isClaim(text string) bool {
	name, value, _ := strings.Cut(text, "=")
	return name != "" && value != "" && value != AnySubject
}
