package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// manyFlags returns a namespace with n flags of all kinds over 50 segments.
func manyFlags(n int) *service.Document {
	d := &service.Document{Namespace: service.DocumentNamespace{Key: "default"}}
	for i := range 50 {
		d.Segments = append(d.Segments, &guidon.Segment{
			Key: fmt.Sprint("segment-", i), Name: fmt.Sprint("Customers of region ", i),
			Constraints: []*guidon.Constraint{{Type: guidon.StringComparison, Property: "region", Operator: "eq", Value: fmt.Sprint(i)}},
		})
	}
	for i := range n {
		f := &guidon.Flag{
			Key: fmt.Sprintf("flag-%05d", i), Name: fmt.Sprint("Checkout experiment ", i), Description: "What the shop shows to some of its customers",
			Type: guidon.BooleanFlag, Enabled: i%5 == 0, Metadata: fmt.Appendf(nil, `{"owner":"team-%d","tags":["q%d"]}`, i%23, i%4),
		}
		if i%2 == 0 {
			f.Rollouts = []*guidon.Rollout{
				{Segment: &guidon.RolloutSegment{SegmentKeys: []string{fmt.Sprint("segment-", i%50)}, Value: true}},
				{Threshold: &guidon.RolloutThreshold{Percentage: float32(i % 100), Value: true}},
			}
		}
		if i%3 == 0 {
			f.Type, f.Rollouts, f.Enabled = guidon.VariantFlag, nil, i%4 != 0
			f.DefaultVariantID = "classic"
			f.Variants = []*guidon.Variant{{Key: "classic"}, {Key: "one-page"}, {Key: "express"}}
			f.Rules = []*guidon.Rule{{SegmentKeys: []string{fmt.Sprint("segment-", i%50)}, Distributions: []*guidon.Distribution{
				{VariantID: "classic", Rollout: 80}, {VariantID: "one-page", Rollout: 10}, {VariantID: "express", Rollout: 10}}}}
		}
		d.Flags = append(d.Flags, f)
	}
	return d
}

// writer returns a handler that responds to everything with the body, as pages are sent.
func writer(s *webtest.Server, body []byte) http.Handler {
	serve := func(x *exchange.Exchange) { x.Reply(http.StatusOK, "text/html; charset=utf-8", body) }
	return handler.New(handler.Config{Service: s.Service, Mounts: []exchange.Mount{{
		Prefixes: []string{"/", "/namespaces", "/search"}, Serve: serve, Error: func(x *exchange.Exchange, _ error) { serve(x) },
	}}})
}

// BenchmarkPages measures pages over 10,000 flags. ratio is the time of the page to that of
// a handler that writes the same bytes through the same router, both compressed as browsers
// get them; raw is the ratio without compression, which says how much the page itself costs
// if the body is not counted. Both are measured in turn, so that other load changes neither
// much.
func BenchmarkPages(b *testing.B) {
	s := webtest.New(b, webtest.Options{Empty: true})
	_, before, err := s.Service.Import(b.Context(), service.Write{}, "default", manyFlags(10_000), service.ImportReplace, false)
	if err != nil {
		b.Fatal(err)
	}
	changed := &service.Document{Flags: manyFlags(1).Flags}
	for i := range 30 {
		changed.Flags[0].Name = fmt.Sprint("Name ", i)
		if _, _, err := s.Service.Import(b.Context(), service.Write{}, "default", changed, service.ImportUpdate, false); err != nil {
			b.Fatal(err)
		}
	}
	for _, page := range []struct {
		name, target string
		headers      []string
	}{
		{"list", "/namespaces/default/flags?page=3", nil},
		{"filter", "/namespaces/default/flags?q=experiment+77", []string{"Guidon-Fragment", "list"}},
		{"flag", "/namespaces/default/flags/flag-00006", nil},
		{"changes", "/namespaces/default/changes", nil},
		{"compare", fmt.Sprintf("/namespaces/default/compare?from=default@%d", before), nil},
		{"unused", "/namespaces/default/unused", nil},
		{"palette", "/search?q=checkout+experiment+9", []string{"Guidon-Fragment", "options"}},
	} {
		b.Run(page.name, func(b *testing.B) { benchmarkPage(b, s, page.target, page.headers) })
	}
}

func benchmarkPage(b *testing.B, s *webtest.Server, target string, headers []string) {
	plain := s.Request(target, headers...)
	zipped := s.Request(target, append(slices.Clone(headers), "Accept-Encoding", "gzip")...)
	first := get(b, s.Handler(), plain)
	reference := writer(s, first.Body.Bytes())
	var pages, written, pagesPlain, writtenPlain []time.Duration
	for b.Loop() {
		pages, written = append(pages, timed(b, s.Handler(), zipped)), append(written, timed(b, reference, zipped))
		pagesPlain, writtenPlain = append(pagesPlain, timed(b, s.Handler(), plain)), append(writtenPlain, timed(b, reference, plain))
	}
	b.ReportMetric(float64(median(pages)), "ns/op")
	b.ReportMetric(float64(pages[len(pages)*95/100])/1e6, "p95-ms")
	b.ReportMetric(float64(median(pages))/float64(median(written)), "ratio")
	b.ReportMetric(float64(median(pagesPlain))/float64(median(writtenPlain)), "raw")
	b.ReportMetric(testing.AllocsPerRun(10, func() { get(b, s.Handler(), zipped) }), "allocs")
	b.ReportMetric(float64(get(b, s.Handler(), zipped).Body.Len())/1000, "KB")
}

// median sorts the times, and returns the one in the middle.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func timed(b *testing.B, h http.Handler, request *http.Request) time.Duration {
	start := time.Now()
	get(b, h, request)
	return time.Since(start)
}

func get(b *testing.B, h http.Handler, request *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK {
		b.Fatalf("%s: %d %s", request.URL, recorder.Code, recorder.Body)
	}
	return recorder
}
