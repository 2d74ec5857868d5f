package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/sync/errgroup"
)

// prober sends forms as a browser without scripts does, but far more of them, and looks at
// the markup of the responses.
type prober struct {
	base   string // the address of the pages, without a slash at the end
	client *http.Client
	sent   map[string]bool // kinds of forms
}

// newProber returns a prober that has signed in with the token.
func newProber(t testing.TB, base, token string) *prober {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &prober{base: base, client: &http.Client{Jar: jar, CheckRedirect: stayWithin(base)}, sent: make(map[string]bool)}
	f := probe{method: http.MethodPost, action: "/sign-in", fields: []probeField{{name: "token", value: token}}}
	if a := p.send(t, f); a.status != http.StatusOK || !a.moved {
		t.Fatalf("signing in has status %d", a.status)
	}
	return p
}

// stayWithin makes a client follow redirects to pages below the address only.
func stayWithin(base string) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(next.URL.String(), base+"/") {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

// probeWorkers is the number of requests that are sent concurrently.
const probeWorkers = 4

// ProbeForms sends each form of the page at the path twice for each of the texts: once with
// texts in all of its fields, a different one in each, so that each field has had all of them
// in the end, and once with the text in one field, so that it may be accepted. The buttons of
// the form take turns. It reports as errors what shows that a text was taken for a part of
// the page, and statuses of 500 and above, and returns how many forms it has sent. It leaves
// out forms whose action is skipped, and those with the action and the fields of an earlier one.
func (p *prober) ProbeForms(t testing.TB, path string, texts []string, skip func(action string) bool) (forms int) {
	t.Helper()
	statuses := make(map[string]int)
	for _, f := range p.forms(t, path) {
		if len(f.fields) == 0 || skip(f.action) || p.sent[f.kind()] {
			continue
		}
		p.sent[f.kind()] = true
		forms++
		var workers errgroup.Group
		counts := make([]map[string]int, probeWorkers)
		for w := range probeWorkers {
			counts[w] = make(map[string]int)
			workers.Go(func() error {
				p.probe(t, path, f, texts, w, counts[w])
				return nil
			})
		}
		_ = workers.Wait() // they return no errors
		for _, c := range counts {
			for status, n := range c {
				statuses[status] += n
			}
		}
	}
	t.Logf("%s: %d forms, responses by status: %v", path, forms, statuses)
	return forms
}

// probe sends a form with every probeWorkers-th text from the first on, and counts the
// responses by status.
func (p *prober) probe(t testing.TB, path string, f probe, texts []string, first int, counts map[string]int) {
	for i := first; i < len(texts); i += probeWorkers {
		for _, filled := range []probe{f.full(texts, i), f.with(texts[i], i)} {
			a := p.send(t, filled.pressed(i))
			counts[a.String()]++
			if len(a.found) > 0 {
				t.Errorf("%s %s of %s with %.300q: %v", f.method, f.action, path, texts[i], a.found)
			}
			if a.moved { // it was saved, perhaps: the next is a form for what is there now
				f = p.again(t, path, f)
			}
		}
	}
}

// again returns a form as the page has it now, or the same if it has none.
func (p *prober) again(t testing.TB, path string, f probe) probe {
	all := p.forms(t, path)
	if i := slices.IndexFunc(all, func(other probe) bool { return other.kind() == f.kind() }); i >= 0 {
		return all[i]
	}
	return f
}

// probeAnswer is a response to a form.
type probeAnswer struct {
	status int
	moved  bool // a redirect led to it
	found  []finding
}

func (a probeAnswer) String() string {
	if a.moved {
		return fmt.Sprintf("303 %d", a.status)
	}
	return fmt.Sprint(a.status)
}

// send sends a form, and follows redirects.
func (p *prober) send(t testing.TB, f probe) probeAnswer {
	values := make(url.Values)
	for _, field := range f.fields {
		values.Add(field.name, field.value)
	}
	var request *http.Request
	var err error
	if f.method == http.MethodPost {
		request, err = http.NewRequestWithContext(t.Context(), f.method, p.base+f.action, strings.NewReader(values.Encode()))
	} else {
		target, _, _ := strings.Cut(f.action, "?")
		request, err = http.NewRequestWithContext(t.Context(), f.method, p.base+target+"?"+values.Encode(), nil)
	}
	if err != nil {
		t.Error(err)
		return probeAnswer{}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, body, err := p.do(request)
	if err != nil {
		t.Error(err)
		return probeAnswer{}
	}
	return probeAnswer{response.StatusCode, response.Request != request, p.foreign(response, body)}
}

func (p *prober) do(request *http.Request) (response *http.Response, body string, err error) {
	response, err = p.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	return response, string(b), err
}

// forms returns the forms of a page.
func (p *prober) forms(t testing.TB, path string) (forms []probe) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	_, body, err := p.do(request)
	if err != nil {
		t.Error(err)
		return nil
	}
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	return formsOf(root)
}

// foreign returns what a page has that none of ours has, and a failure of the server.
func (p *prober) foreign(response *http.Response, body string) (found []finding) {
	report := func(format string, args ...any) {
		found = append(found, finding{"markup", fmt.Sprintf(format, args...)})
	}
	if response.StatusCode >= http.StatusInternalServerError {
		report("%s has status %d", response.Request.URL.Path, response.StatusCode)
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return found
	}
	if policy := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		report("the policy is %q", policy)
	}
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		report("%v", err)
		return found
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			foreignIn(n, report)
		}
	}
	return found
}

// foreignElements are elements that pages do not have, but injected markup could.
var foreignElements = strings.Fields("base style iframe frame frameset object embed applet math marquee template plaintext xmp video audio source animate foreignobject mglyph portal")

// foreignIn reports what is wrong with an element: of ours, none runs anything by itself, and
// all lead to paths of this service or, as links, to a page elsewhere that gets no referrer.
func foreignIn(n *html.Node, report func(format string, args ...any)) {
	if slices.Contains(foreignElements, strings.ToLower(n.Data)) {
		report("there is an element <%s>", n.Data)
	}
	if n.Data == "script" && attribute(n, "src") == "" {
		report("a script is inline")
	}
	if n.Data == "meta" && attribute(n, "http-equiv") != "" {
		report("a <meta> acts like a header")
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "style" || a.Key == "srcdoc" || a.Key == "background" || strings.HasPrefix(a.Key, "on"):
			report("<%s> has the attribute %s", n.Data, a.Key)
		case !slices.Contains([]string{"href", "src", "action", "formaction", "poster", "data"}, a.Key) || isOurs(a.Val):
		case a.Key == "href" && n.Data == "a" && attribute(n, "rel") == "noreferrer" && (strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")):
		default:
			report("<%s> has the %s %.200q", n.Data, a.Key, a.Val)
		}
	}
}

// isOurs reports whether an address is one of this service.
func isOurs(address string) bool {
	if strings.HasPrefix(address, "#") || strings.HasPrefix(address, "?") {
		return true
	}
	return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") && !strings.HasPrefix(address, `/\`)
}
