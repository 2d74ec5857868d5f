package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"github.com/guidonhq/guidon/integration/harness"
)

// hostileNames are placeholders and the keys of what plant makes.
var hostileNames = []string{"{ns}", "hostile", "{variant}", "variant", "{boolean}", "boolean", "{segment}", "segment"}

// TestHostile: no page takes a text for a part of itself, whether somebody else has chosen it,
// it was saved by a form, or it was refused and is shown again.
func TestHostile(t *testing.T) {
	s := openShop(t)
	texts := hostileTexts()
	if accepted := plant(t, s.Server, texts); accepted < 1000 {
		t.Errorf("only %d objects were accepted", accepted)
	}
	all := visitors{shop: s}
	forms := 0
	for i, p := range pages {
		v := all.as(t, p.as)
		t.Run(p.name, func(t *testing.T) {
			path := p.at(hostileNames...)
			report(t, v.Harm(t, v.Visit(t, path)))
			attack := formAttackConfig{Texts: textsOf(texts, i), Size: 24000, Skip: endsSession}
			if p.bare {
				attack.Size = 3000 // their forms are small
			}
			forms += v.AttackForms(t, path, attack)
		})
	}
	if forms < 40 {
		t.Errorf("only %d forms were attacked", forms)
	}
	v := all.as(t, admin)
	for _, list := range []struct {
		path string
		rows int // of a page
	}{{"/namespaces/hostile/flags", 50}, {"/namespaces/hostile/segments", 50}, {"/namespaces/hostile/unused", 50}, {"/settings/tokens", 25}} {
		t.Run("all of"+strings.ReplaceAll(list.path, "/", " "), func(t *testing.T) {
			for n := range len(texts)/list.rows + 1 {
				report(t, v.Harm(t, v.Visit(t, fmt.Sprintf("%s?page=%d", list.path, n+1))))
			}
		})
	}
	review := func(t *testing.T, button string) {
		report(t, v.Harm(t, v.Follow(t, click(named("button", button)))))
		if text := v.Main(t); !strings.Contains(text, "onerror=alert") {
			t.Errorf("the review is %.2000s", text)
		}
	}
	t.Run("review of a promotion", func(t *testing.T) {
		v.Visit(t, "/namespaces/empty/compare?from=hostile")
		review(t, "Review")
	})
	t.Run("review of an import", func(t *testing.T) {
		export := harness.Command(t, "", "export", "--namespaces", "hostile", "--format", "json", "--address", s.URL)
		export.Env = append(export.Env, "GUIDON_TOKEN="+adminToken)
		document, err := json.Marshal(harness.Ends(t, export, true, ""))
		if err != nil {
			t.Fatal(err)
		}
		v.Visit(t, "/namespaces/empty/import")
		eval[chromedp.Void](t, v, fmt.Sprintf("document.getElementById('text').value = %s", document))
		review(t, "Show what changes")
	})
	t.Run("answers", func(t *testing.T) {
		v.Attack(t, "/namespaces/hostile/playground?flag=variant", "#entity, #k0, #v0", append(inBatches(texts, 3000), texts[:5]...))
	})
	t.Run("addresses", func(t *testing.T) {
		for _, text := range inBatches(texts, 3000) {
			escaped := url.PathEscape(text)
			for _, path := range []string{
				"/namespaces/" + escaped + "/flags", "/namespaces/hostile/flags/" + escaped, "/namespaces/hostile/segments/" + escaped + "/delete",
				"/namespaces/hostile/flags/boolean?edit=" + url.QueryEscape(text) + "&saved=" + url.QueryEscape(text), "/" + escaped,
				"/namespaces/default/compare?from=" + url.QueryEscape(text), "/sign-in?return_to=" + url.QueryEscape(text),
			} {
				report(t, v.Harm(t, v.Visit(t, path)))
			}
		}
	})
}

// TestHostileForms: each text in each field of each form, also alone where it may be accepted,
// becomes no element and no attribute of the page that answers, and leads nowhere else.
func TestHostileForms(t *testing.T) {
	s := openShop(t)
	texts := hostileTexts()
	plant(t, s.Server, texts)
	prober := newProber(t, s.public, adminToken)
	forms := 0
	for i, p := range pages {
		if p.as == guest {
			continue // attempts to sign in are limited; handler/web tests its pages
		}
		t.Run(p.name, func(t *testing.T) {
			forms += prober.ProbeForms(t, p.at(hostileNames...), textsOf(texts, i), endsSession)
		})
	}
	if forms < 35 {
		t.Errorf("only %d forms were sent", forms)
	}
}

// textsOf returns the texts for the forms of a page: with FULL=1 all, beginning with another one
// on each page, otherwise some of them, others on each page.
func textsOf(texts []string, page int) (some []string) {
	if first := 7 * page % len(texts); harness.Full() {
		return slices.Concat(texts[first:], texts[:first])
	}
	const parts = 16
	for i := page % parts; i < len(texts); i += parts {
		some = append(some, texts[i])
	}
	return some
}

// endsSession reports whether a form ends the session that the attack needs.
func endsSession(action string) bool { return strings.HasPrefix(action, "/sign-in/out") }

// planter creates objects with hostile texts.
type planter struct {
	*harness.Server
	accepted atomic.Int32
}

// plant gives texts to everything that has a name, a description or a value, and returns
// how many objects were accepted. Which texts are is for the tests of the service.
func plant(t *testing.T, s *harness.Server, texts []string) (accepted int) {
	t.Helper()
	p := &planter{Server: s}
	err := errors.Join(
		p.create(t, "/api/v1/namespaces", map[string]any{"key": "hostile", "name": `<b>"'`, "description": `<b>"'`}),
		p.create(t, hostileFlags, map[string]any{"key": "variant", "name": `<b>"'`, "enabled": true, "type": "VARIANT_FLAG_TYPE"}),
		p.create(t, hostileFlags, map[string]any{"key": "boolean", "name": `<b>"'`, "enabled": true, "type": "BOOLEAN_FLAG_TYPE"}),
		p.create(t, hostileSegments, map[string]any{"key": "segment", "name": `<b>"'`, "matchType": "ANY_MATCH_TYPE"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	var workers errgroup.Group
	workers.SetLimit(8) // their changes share commits
	for i, text := range texts {
		workers.Go(func() error { return p.plant(t, i, strings.ToValidUTF8(text, "\ufffd")) })
	}
	if err := workers.Wait(); err != nil {
		t.Fatal(err)
	}
	return int(p.accepted.Load())
}

const (
	hostileFlags    = "/api/v1/namespaces/hostile/flags"
	hostileSegments = "/api/v1/namespaces/hostile/segments"
)

// plant creates objects with the text, those of which there are many on a page with fewer
// texts.
func (p *planter) plant(t *testing.T, i int, text string) error {
	key := fmt.Sprintf("text-%d", i)
	err := errors.Join(
		p.create(t, hostileFlags, map[string]any{"key": key, "name": text, "description": text, "metadata": map[string]any{"owner": text, text: text}}),
		p.create(t, hostileSegments, map[string]any{"key": key, "name": text, "description": text}),
	)
	if i%6 == 0 {
		attachment, _ := json.Marshal(map[string]string{text: text}) // cannot fail
		err = errors.Join(err,
			p.create(t, "/auth/v1/method/token", map[string]any{"name": text, "description": text}),
			p.create(t, hostileSegments+"/segment/constraints", map[string]any{"type": "STRING_COMPARISON_TYPE", "property": text, "operator": "eq", "value": text, "description": text}),
			p.create(t, hostileFlags+"/variant/variants", map[string]any{"key": key, "name": text, "description": text, "attachment": string(attachment)}),
		)
	}
	if i%60 == 0 {
		err = errors.Join(err,
			p.create(t, "/api/v1/webhooks", map[string]any{"namespaceKey": "hostile", "name": text, "url": nowhere}),
			p.create(t, "/api/v1/namespaces", map[string]any{"key": key, "name": text, "description": text}),
			p.create(t, hostileFlags+"/boolean/rollouts", map[string]any{"rank": i + 1, "description": text, "threshold": map[string]any{"percentage": 10, "value": true}}),
			p.create(t, hostileFlags+"/variant/rules", map[string]any{"rank": i + 1, "segmentKey": "segment"}),
		)
	}
	return err
}

// create creates an object. A text that is refused is not an error.
func (p *planter) create(t *testing.T, path string, object map[string]any) error {
	a, err := p.Call(t.Context(), http.MethodPost, path, object, "Authorization: Bearer "+adminToken)
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusOK:
		p.accepted.Add(1)
	case a.Status != http.StatusBadRequest:
		return fmt.Errorf("POST %s: %d %s", path, a.Status, a.Body)
	}
	return nil
}
