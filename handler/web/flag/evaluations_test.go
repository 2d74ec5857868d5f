package flag_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

const checkout = "/namespaces/default/flags/checkout-redesign/evaluations"

// clock is the time of a service, which tests move.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// counting is when counting begins.
var counting = time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)

// open returns a service whose counting begins now.
func open(t *testing.T, now time.Time) (*webtest.Server, *clock) {
	t.Helper()
	c := &clock{now}
	return webtest.New(t, webtest.Options{Counts: true, Open: true, Now: c.Now}), c
}

// report counts evaluations of a flag now.
func report(t *testing.T, s *webtest.Server, c *clock, key string, n count.Numbers) {
	t.Helper()
	if err := s.Counter.Report(t.Context(), "default", fmt.Sprint(c.now.UnixNano(), key, n), count.Counts{key: n}); err != nil {
		t.Fatal(err)
	}
}

// pass lets a time pass, with a roll-up every day.
func pass(t *testing.T, s *webtest.Server, c *clock, d time.Duration) {
	t.Helper()
	for end := c.now.Add(d); c.now.Before(end); {
		c.now = c.now.Add(min(24*time.Hour, end.Sub(c.now)))
		if err := s.Counter.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// bar matches a bar in the data of a path.
var bar = regexp.MustCompile(`M([\d.]+) ([\d.]+)V([\d.]+)`)

// heights returns the heights of the bars of each answer, by the class of its color.
func heights(t *testing.T, r *webtest.Reply) map[string][]float64 {
	t.Helper()
	all := make(map[string][]float64)
	for _, path := range r.All("path") {
		if path.Parent.Data != "g" {
			continue
		}
		for _, m := range bar.FindAllStringSubmatch(webtest.Attribute(path, "d"), -1) {
			from, err := strconv.ParseFloat(m[2], 64)
			to, err2 := strconv.ParseFloat(m[3], 64)
			if err != nil || err2 != nil {
				t.Fatal(m)
			}
			class := webtest.Attribute(path, "class")
			all[class] = append(all[class], from-to)
		}
	}
	return all
}

// TestChart: the bars, the table and the words have the numbers of the API.
func TestChart(t *testing.T) {
	s, c := open(t, counting)
	s.Get(checkout).Check(200).Contains("Nobody has evaluated this flag since counting began on 3 Jun 2026.")
	for hour := range 5 {
		pass(t, s, c, time.Hour)
		report(t, s, c, "checkout-redesign", count.Numbers{
			"classic match": uint64(600 + 100*hour), "one-page match": 150, "one-page default": 50, "renamed match": 30, "none unknown": 20, "error unknown": 5,
		})
	}
	c.now = c.now.Add(10 * time.Minute)
	r := s.Get(checkout, "Cookie", "guidon_preferences=zone=Europe%2FBerlin").Check(200)
	var api struct {
		Total  float64
		Series []struct {
			Answer string
			Points []float64
		}
	}
	answer := s.Get("/api/v1/namespaces/default/flags/checkout-redesign/evaluations?step=hour")
	if err := json.Unmarshal([]byte(answer.Body), &api); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
	}
	want := make(map[string][]float64)
	colors := map[string]string{"classic": "v1", "one-page": "v2", "renamed": "v8", "none": "c-none", "error": "c-error"}
	for _, one := range api.Series {
		class := colors[one.Answer]
		if want[class] == nil {
			want[class] = make([]float64, len(one.Points)-1)
		}
		for i := range want[class] {
			want[class][i] += one.Points[i+1] // nothing was counted in the first hour
		}
	}
	got := heights(t, r)
	const perUnit = (214 - 22) / 1500.0 // the scale is from 0 to 1,500
	for class, bars := range want {
		for i, n := range bars {
			if math.Abs(got[class][i]-n*perUnit) > 0.11 {
				t.Errorf("%s, bar %d: the height is %.1f, want %.1f for %.0f", class, i, got[class][i], n*perUnit, n)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("got the bars of %v, want those of %v", got, want)
	}
	if last := regexp.MustCompile(`class="c-error" d="[^"]*V([0-9.]+)"`).FindStringSubmatch(r.Body); last == nil || last[1] != place(214-1255*perUnit) {
		t.Errorf("the last bar ends at %q, want %s", last, place(214-1255*perUnit))
	}
	r.Contains(
		"Last evaluated 10 min ago · "+"5,275 in the last 24 hours · counted since 3 Jun 2026",
		"classic 75.8% 4,000", "one-page 19% 1,000", "renamed 2.8% 150", "no variant 1.9% 100", "an error 0.5% 25",
		"Hour classic one-page renamed no variant an error 19:00, until now 1,000 200 30 20 5 18:00 900 200 30 20 5",
		"0 500 1,000 1,500 21:00 00:00", // the scale, and hours of the visitor that 3 divides
	)
	if api.Total != 5275 {
		t.Errorf("the API has %v evaluations", api.Total)
	}
}

// place returns a place in the chart as text.
func place(n float64) string { return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") }

// TestRanges: each range has its bars, also those that the API returns in parts.
func TestRanges(t *testing.T) {
	s, c := open(t, counting)
	for _, d := range []time.Duration{time.Minute, 400 * 24 * time.Hour, 200 * 24 * time.Hour, 100 * 24 * time.Hour, 7 * 24 * time.Hour, 23 * time.Hour, 30 * time.Minute} {
		report(t, s, c, "dark-mode", count.Numbers{"true match": 1})
		pass(t, s, c, d)
	}
	for name, want := range map[string]int{"1h": 1, "24h": 2, "": 2, "nonsense": 2, "7d": 2, "60d": 3, "2y": 7} {
		r := s.Get("/namespaces/default/flags/dark-mode/evaluations?range=" + name).Check(200)
		total := 0.0
		for _, tr := range r.All("tr") {
			n, _ := strconv.ParseFloat(webtest.TextOf(tr.LastChild), 64)
			total += n
		}
		if bars := heights(t, r)["c-on"]; int(total) != want || len(bars) == 0 {
			t.Errorf("%q: the table has %v evaluations and the chart %v, want %d", name, total, bars, want)
		}
	}
}

// TestMarks: each change is a line with a link to it, where it was made.
func TestMarks(t *testing.T) {
	s, c := open(t, time.Now().Add(-3*time.Hour)) // changes have the time of the database
	pass(t, s, c, 3*time.Hour+time.Second)
	report(t, s, c, "dark-mode", count.Numbers{"true match": 1})
	w := service.Write{By: service.Caller{Actor: change.Actor{ID: "x", Name: "Mira"}}}
	_, revision, err := s.Service.TurnFlagOff(t.Context(), w, "default", "dark-mode", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Get("/namespaces/default/flags/dark-mode/evaluations").Check(200)
	var marks []string
	for _, a := range r.All("a") {
		if a.Parent.Data == "svg" {
			marks = append(marks, webtest.Attribute(a, "href")+" "+a.FirstChild.FirstChild.Data+" "+webtest.TextOf(a))
		}
	}
	want := []string{fmt.Sprintf("/namespaces/default/flags/dark-mode/history/%d Revision %d, Mira: turned off %d", revision, revision, revision),
		"/namespaces/default/flags/dark-mode/history/2 Revision 2, Anonymous: created (boolean flag \"Dark mode\") ",
	} // the second one without its revision above it, because the first one is as near
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Get(fmt.Sprint("/namespaces/default/flags/dark-mode/history/", revision)).Check(200)
}

// TestLimits: a chart with as many bars, answers and changes as there can be is within its budget.
func TestLimits(t *testing.T) {
	s, c := open(t, time.Now().Add(-7*24*time.Hour))
	f := &guidon.Flag{Key: "big", Name: "Big", Type: guidon.VariantFlag}
	for i := range 40 {
		f.Variants = append(f.Variants, &guidon.Variant{Key: fmt.Sprint("variant-", i)})
	}
	for hour := range 7 * 24 {
		c.now = c.now.Add(time.Hour)
		n := count.Numbers{}
		for i, v := range f.Variants {
			n[v.Key+" match"] = uint64(100_000*(hour%7) + 1000*i + 777)
		}
		report(t, s, c, "big", n)
		if hour%3 == 0 {
			f.Description = strings.Repeat("x", hour)
			if _, _, err := s.Service.Edit(t.Context(), service.Write{}, "default", service.Edits{Flags: []service.FlagEdit{{Put: f}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := s.Get("/namespaces/default/flags/big/evaluations?range=7d").Check(200).Contains("variant-39", "32 others")
	_, chart, _ := strings.Cut(r.Body, `<svg class="chart"`)
	chart, _, _ = strings.Cut(chart, "</svg>")
	bars := heights(t, r)
	if got := len(chart); got > 40<<10 || len(bars["c-off"]) != 168 {
		t.Errorf("the chart has %d bytes, want at most 40 KB; bars of others: %d", got, len(bars["c-off"]))
	}
}

// TestOff: where evaluations are not counted, no page shows them.
func TestOff(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, page := range []string{"", "/history", "/code", "/details"} {
		s.Get("/namespaces/default/flags/checkout-redesign" + page).Check(200).Lacks("Evaluations")
	}
	s.Get("/namespaces/default/flags").Check(200).Lacks("Evaluations")
	s.Get(checkout).Check(404)
	on, _ := open(t, counting)
	on.Get("/namespaces/default/flags/checkout-redesign/history").Check(200).Contains("History Evaluations")
	on.Get("/namespaces/default/flags/nothing/evaluations").Check(404)
}

// TestWhole: the page says how often clients got all flags, of which it cannot tell more.
func TestWhole(t *testing.T) {
	s, c := open(t, counting)
	pass(t, s, c, time.Minute)
	report(t, s, c, count.Namespace, count.Numbers{count.Bulk: 20, count.Download: 1300})
	s.Get(checkout).Check(200).Contains("clients asked for all flags of Default 1,320 times", "Nobody has evaluated this flag since")
}

// TestHostileEvaluations: whatever variants, flags and actors are called, the page has the same elements.
func TestHostileEvaluations(t *testing.T) {
	s, c := open(t, time.Now().Add(-time.Minute))
	c.now = c.now.Add(time.Minute)
	page := func(key, text string) (elements string, planted bool) {
		f := &guidon.Flag{
			Key: key, Name: text, Description: text, Type: guidon.VariantFlag, DefaultVariantID: text, Variants: []*guidon.Variant{{Key: text, Name: text}},
		}
		w := service.Write{By: service.Caller{Actor: change.Actor{ID: "oidc:" + text, Name: text, Method: "METHOD_OIDC"}}}
		if _, _, err := s.Service.Edit(t.Context(), w, "default", service.Edits{Flags: []service.FlagEdit{{Put: f}}}); err != nil {
			return "", false // nothing can be called that
		}
		report(t, s, c, key, count.Numbers{text + " match": 3, text + "2 match": 1})
		return s.Get("/namespaces/default/flags/" + key + "/evaluations?range=" + url.QueryEscape(text)).Check(200).Elements(), true
	}
	want, _ := page("harmless", "harmless")
	if !strings.Contains(want, "a href\ntitle\nrect x") {
		t.Errorf("the page has no mark:\n%s", want)
	}
	all := 0
	for i, text := range webtest.HostileTexts() {
		got, planted := page(fmt.Sprint("planted-", i), text)
		if planted {
			all++
		}
		if planted && got != want {
			t.Errorf("%q: the page has other elements:\n%s", text, cmp.Diff(want, got))
		}
	}
	if all < 40 {
		t.Errorf("only %d texts were planted", all)
	}
}
