package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const playgroundPath = "/namespaces/default/playground"

// explanation is what the API says about an answer.
type explanation struct {
	Steps []struct {
		Segments []struct {
			Constraints []struct{ Matched bool }
		}
	}
}

// ask asks the playground in the page.
func ask(t *testing.T, v *visitor, flag, entity, at string, context map[string]string) {
	t.Helper()
	text, err := json.Marshal(maps.Collect(maps.All(context))) // {} for none
	if err != nil {
		t.Fatal(err)
	}
	if count(t, v, "#json") == 0 {
		v.Do(t, click(css("button[value=json]")))
		v.Await(t, "document.getElementById('json')")
	}
	eval[chromedp.Void](t, v, fmt.Sprintf(`(() => {
		for (const [id, value] of Object.entries({flag: %q, entity: %q, at: %q, json: %q})) document.getElementById(id).value = value;
		window.asked = document.querySelector('[data-region=lab]');
		document.getElementById('entity').focus();
	})()`, flag, entity, at, text))
	v.Do(t, chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	v.Await(t, "!window.asked.isConnected && document.querySelector('[data-answer], [role=alert]')")
}

// TestPlayground: the page answers what the API answers, in the bucket of the contract, with
// the reasons that the API gives; also as of earlier, and from a link.
func TestPlayground(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, playgroundPath)
	check := stays(t, v)
	v.Do(t, click(named("button", "As JSON")))
	awaitFocus(t, v, "json") // the button is gone
	v.Do(t, click(named("button", "As rows")))
	awaitFocus(t, v, "k0")
	contexts := []map[string]string{
		{}, {"country": "DE", "orders": "6", "return_rate": "0.1"}, {"country": "SE", "email": "a@shop.example"}, {"fraud_score": "0.9", "app_build": "4000"},
	}
	for _, flag := range []string{"checkout-redesign", "dark-mode", "payment-methods", "one-click-buy", "search-ranking"} {
		for i, context := range contexts {
			entity := fmt.Sprint("secret-person-", i)
			ask(t, v, flag, entity, "", context)
			got := eval[string](t, v, "document.querySelector('[data-answer]').dataset.answer")
			s.answers(t, "default", flag, entity, context, got)

			var e explanation
			s.Must(t, http.MethodPost, "/api/v1"+flagsPath+"/"+flag+"/explain", map[string]any{"entityId": entity, "context": context}, &e, authorized)
			var want []bool
			for _, step := range e.Steps {
				for _, segment := range step.Segments {
					for _, c := range segment.Constraints {
						want = append(want, c.Matched)
					}
				}
			}
			shown := eval[[]bool](t, v, "[...document.querySelectorAll('.checks li:not(.h)')].map(e => e.classList.contains('yes'))")
			if !slices.Equal(shown, want) {
				t.Errorf("%s with %v: the constraints are %v, want %v", flag, context, shown, want)
			}
			for _, label := range eval[[]string](t, v, "[...document.querySelectorAll('svg.ruler')].map(e => e.ariaLabel)") {
				buckets := uint32(variantBuckets)
				if flag == "dark-mode" || flag == "one-click-buy" {
					buckets = booleanBuckets
				}
				if want := fmt.Sprintf("Bucket %d of %d ", bucket(flag, entity, buckets), buckets); !strings.HasPrefix(label, want) {
					t.Errorf("%s for %s: %s, want %s", flag, entity, label, want)
				}
			}
		}
	}
	check()

	revision := s.revision(t)
	entity := entities("dark-mode", booleanBuckets)[60]
	s.change(t, http.MethodPut, "/api/v1"+flagsPath+"/dark-mode/content", map[string]any{"flag": map[string]any{"key": "dark-mode", "name": "Dark mode", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}})
	for at, want := range map[string]string{"": "On", revision: "Off"} {
		ask(t, v, "dark-mode", entity, at, nil)
		if got := eval[string](t, v, "document.querySelector('[data-answer]').dataset.answer"); got != want {
			t.Errorf("as of %q, got %s, want %s", at, got, want)
		}
	}

	context := map[string]string{"country": "DE", "name": `ü "&+#`}
	ask(t, v, "payment-methods", "linked-person", "", context)
	answer := eval[string](t, v, "document.querySelector('[data-answer]').dataset.answer")
	link := eval[string](t, v, "document.querySelector('a[data-link]').href")
	if got := eval[string](t, v, "location.href"); got != link {
		t.Errorf("the address is %s, want %s", got, link)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	v.Visit(t, u.Path+"#"+u.EscapedFragment())
	v.Await(t, "document.querySelector('[data-answer]')")
	if got := eval[string](t, v, "document.querySelector('[data-answer]').dataset.answer"); got != answer {
		t.Errorf("the link answers %s, want %s", got, answer)
	}
	restored := eval[map[string]string](t, v, `Object.fromEntries([...document.querySelectorAll('[name=k]')].map((k, i) => [k.value, document.querySelectorAll('[name=v]')[i].value]).filter(([k]) => k))`)
	if !maps.Equal(restored, context) {
		t.Errorf("the link restores %q, want %q", restored, context)
	}
	quiet(t, v)
	for _, secret := range []string{"secret-person", "linked-person", "a@shop.example"} {
		if strings.Contains(s.Log(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}
