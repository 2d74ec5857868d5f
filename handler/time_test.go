package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// TestTime: a rule holds between its times, on every instance, without a write. A client that
// has the response of one epoch does not get 304 in the next one.
func TestTime(t *testing.T) {
	from, until := flagtest.FuzzedStart, flagtest.FuzzedStart.Add(time.Hour)
	now := from.Add(-time.Hour)
	db := newDB(t)
	instance := func() *server {
		return newInside(t, "it has a clock", func(c *handler.Config) {
			c.Service = service.NewService(cache.New(db), func() time.Time { return now })
		})
	}
	s, other := instance(), instance()
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	const timeless = "/internal/v1/evaluation/snapshot/namespace/timeless"
	s.must("", "POST", "/api/v1/namespaces", `{"key":"timeless","name":"T"}`)
	s.must("r", "POST", "/api/v1/namespaces/default/flags/f/rollouts", fmt.Sprintf(
		`{"rank":1,"threshold":{"percentage":100,"value":true},"holdsFrom":%q,"holdsUntil":%q}`, from.Format(time.RFC3339), until.Format(time.RFC3339)))

	const bulkBody = `{"context":{"targetingKey":"user"}}`
	type answers struct {
		Enabled, Bulk, Rollouts, Omitted bool
		Revision                         string
	}
	ask := func(s *server) (answers, string, string) {
		var a answers
		evaluated := s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"f","entityId":"user","context":{}}`)
		a.Enabled, a.Revision = strings.Contains(evaluated.body, `"enabled":true`), evaluated.header.Get("Guidon-Revision")
		bulk := s.must("", "POST", ofrepPath, bulkBody)
		a.Bulk = strings.Contains(bulk.body, `"value":true`)
		snapshot := s.must("", "GET", defaultSnapshot, "")
		a.Rollouts, a.Omitted = strings.Contains(snapshot.body, `"threshold"`), strings.Contains(snapshot.body, "omitted")
		return a, bulk.header.Get("ETag"), snapshot.header.Get("ETag")
	}
	without := s.must("", "GET", timeless, "").header.Get("ETag")
	bulkTags, snapshotTags := map[string]string{}, map[string]string{}
	for _, c := range []struct {
		name string
		now  time.Time
		on   bool
		seen string // the earlier step with the same answers
	}{
		{"long before", from.Add(-time.Hour), false, ""},
		{"just before", from.Add(-1), false, "long before"},
		{"at from", from, true, ""},
		{"just before until", until.Add(-1), true, "at from"},
		{"at until", until, false, ""},
		{"clock set back", from, true, "at from"},
	} {
		now = c.now
		got, bulkTag, snapshotTag := ask(s)
		if diff := cmp.Diff(answers{Enabled: c.on, Bulk: c.on, Rollouts: c.on, Revision: "3"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		twin, twinBulk, twinSnapshot := ask(other)
		if twin != got || twinBulk != bulkTag || twinSnapshot != snapshotTag {
			t.Errorf("%s: another instance has other answers or tags", c.name)
		}
		for step, tag := range bulkTags {
			want := 200
			if step == c.seen || bulkTags[step] == bulkTags[c.seen] {
				want = 304
			}
			if r := s.do("POST", ofrepPath, bulkBody, "If-None-Match", tag); r.status != want {
				t.Errorf("%s: bulk with the tag of %s: %d, want %d", c.name, step, r.status, want)
			}
			if r := s.do("GET", defaultSnapshot, "", "If-None-Match", snapshotTags[step]); r.status != want {
				t.Errorf("%s: snapshot with the tag of %s: %d, want %d", c.name, step, r.status, want)
			}
		}
		if len(snapshotTag) != 40 {
			t.Errorf("%s: the tag of the snapshot is %s, want 40 digits", c.name, snapshotTag)
		}
		bulkTags[c.name], snapshotTags[c.name] = bulkTag, snapshotTag
		s.do("GET", timeless, "", "If-None-Match", without).check(t, 304, "")
	}
}

// TestTimeOfStates: a state is evaluated at the time in its name, which may be to come, and
// one that is named by its revision now. Its ETag covers that.
func TestTimeOfStates(t *testing.T) {
	now := time.Now()
	from := now.Add(time.Hour).UTC().Truncate(time.Second)
	s := newInside(t, "it has a clock", func(c *handler.Config) {
		c.Service = service.NewService(cache.New(newDB(t)), func() time.Time { return now })
	})
	const flags = "/api/v1/namespaces/default/flags"
	s.must("", "POST", flags, `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", flags+"/f/rollouts", fmt.Sprintf(`{"rank":1,"threshold":{"percentage":100,"value":true},"holdsFrom":%q}`, from.Format(time.RFC3339)))
	s.must("", "PUT", flags+"/f", `{"name":"F2"}`)
	enabled := func(state string) bool {
		r := s.must("", "POST", "/api/v1/namespaces/default"+state+"/flags/f/explain", `{"entityId":"user"}`)
		var answer struct {
			Result struct{ BooleanResponse struct{ Enabled bool } }
		}
		if err := json.Unmarshal([]byte(r.body), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Result.BooleanResponse.Enabled
	}
	tag := func(state string) string {
		return s.must("", "GET", "/api/v1/namespaces/default"+state+"/flags/f", "").header.Get("ETag")
	}
	before, after := "@"+from.Add(-time.Second).Format(time.RFC3339), "@"+from.Format(time.RFC3339)
	check := func(when string, want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		for state := range want {
			got[state] = enabled(state)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("before", map[string]bool{"": false, before: false, after: true, "@3": false, "@4": false})
	if tag(before) == tag(after) || tag("@4") != tag(before) {
		t.Errorf("tags %s, %s and %s", tag(before), tag(after), tag("@4"))
	}
	now = from.Add(time.Minute)
	check("afterwards", map[string]bool{"": true, before: false, after: true, "@3": true, "@4": true})
	if tag("@4") != tag(after) {
		t.Errorf("tags %s and %s", tag("@4"), tag(after))
	}
}

// TestOFREPEventsOfTime: a stream sends one event within 5 s after a boundary, and none
// otherwise. A client that reconnects after a boundary gets an event immediately.
func TestOFREPEventsOfTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		from, until := time.Now().Add(8*time.Second).UTC(), time.Now().Add(20*time.Second).UTC()
		r := flagtest.Threshold(100, true)
		r.Conditions = &guidon.Conditions{From: from, Until: until}
		j.flags = []*guidon.Flag{flagtest.BooleanFlag("f", false, r)}
		h, _ := streaming(j)
		l := listen(t, h, eventsPath)
		l.begun(refetch("1", "1"))
		for i, boundary := range []time.Time{from, until} {
			time.Sleep(time.Until(boundary) - time.Millisecond)
			l.wants(fmt.Sprint("before boundary ", i), "")
			time.Sleep(5*time.Second + time.Millisecond)
			epoch := fmt.Sprintf("1-%d", boundary.Unix())
			l.wants(fmt.Sprint("after boundary ", i), refetch("1", epoch))
			missed := listen(t, h, eventsPath, "Last-Event-ID", "1-1")
			missed.begun(refetch("1", epoch))
			missed.cancel()
			current := listen(t, h, eventsPath, "Last-Event-ID", "1-"+epoch)
			current.begun("id: 1-" + epoch + "\n\n")
			current.cancel()
			synctest.Wait()
		}
		l.cancel()
		synctest.Wait()
	})
}

// TestTimeInAnalyses: explanations, reach, effects, timelines and the list of unused flags say what
// holds when.
func TestTimeInAnalyses(t *testing.T) {
	now := time.Date(2090, 11, 1, 0, 0, 0, 0, time.UTC)
	s := newInside(t, "it has a clock", func(c *handler.Config) {
		c.Service = service.NewService(cache.New(newDB(t)), func() time.Time { return now })
	})
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[
		{"key":"plain","name":"Plain","type":"BOOLEAN_FLAG_TYPE","enabled":true},
		{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE","rollouts":[
			{"threshold":{"percentage":100,"value":true},"holdsUntil":"2090-10-01T00:00:00Z"},
			{"threshold":{"percentage":100,"value":true},"holdsFrom":"2090-12-01T09:00:00Z","holdsUntil":"2090-12-24T00:00:00Z"}]}]}}`)
	const flags, future = "/api/v1/namespaces/default/flags", "/api/v1/namespaces/default@2090-12-01T09:00:00Z/flags"
	exactly := func(method, path, body, want string) {
		t.Helper()
		if diff := cmp.Diff(want, s.must("", method, path, body).body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	exactly("GET", flags+"/f/timeline", "", `{"boundaries":[`+
		`{"at":"2090-12-01T09:00:00Z","rules":[{"number":2,"ends":false,"text":"rule 2 begins: 100%: on"}]},`+
		`{"at":"2090-12-24T00:00:00Z","rules":[{"number":2,"ends":true,"text":"rule 2 ends: 100%: on"}]}],"truncated":false}`)
	exactly("GET", future+"/f/timeline", "", `{"boundaries":[`+
		`{"at":"2090-12-24T00:00:00Z","rules":[{"number":2,"ends":true,"text":"rule 2 ends: 100%: on"}]}],"truncated":false}`)
	exactly("GET", flags+"/plain/timeline", "", `{"boundaries":[],"truncated":false}`)
	s.do("GET", flags+"/nope/timeline", "").check(t, 404, `{"code":5,"message":"flag \"default/nope\" not found","details":[]}`)

	type explanation struct {
		AsOf   string
		Steps  []struct{ Outcome, Text string }
		Others []struct {
			Verdict   string
			Obstacles []struct{ Reason, Text string }
		}
	}
	decode := func(body string, to any) {
		t.Helper()
		if err := json.Unmarshal([]byte(body), to); err != nil {
			t.Fatal(err)
		}
	}
	var got, want explanation
	decode(s.must("", "POST", flags+"/f/explain", `{"entityId":"ann"}`).body, &got)
	decode(`{"asOf":"2090-11-01T00:00:00Z","steps":[
		{"outcome":"not_in_force","text":"not in force: it held until 1 October 2090 00:00 UTC"},
		{"outcome":"not_in_force","text":"not in force: it holds from 1 December 2090 09:00 UTC until 24 December 2090 00:00 UTC"}],
		"others":[{"verdict":"impossible","obstacles":[
			{"reason":"not_in_force","text":"rule 1 is not in force: it held until 1 October 2090 00:00 UTC"},
			{"reason":"not_in_force","text":"rule 2 is not in force: it holds from 1 December 2090 09:00 UTC until 24 December 2090 00:00 UTC"}]}]}`, &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	var later, plain explanation
	decode(s.must("", "POST", future+"/f/explain", `{"entityId":"ann"}`).body, &later)
	if later.AsOf != "2090-12-01T09:00:00Z" || later.Steps[0].Outcome != "not_in_force" || later.Steps[1].Outcome != "matched" {
		t.Errorf("explanation in the future: got %+v", later)
	}
	if decode(s.must("", "POST", flags+"/plain/explain", `{"entityId":"ann"}`).body, &plain); plain.AsOf != "" {
		t.Errorf("explanation of a flag without times: got as of %s", plain.AsOf)
	}

	type reach struct {
		Steps []struct{ Cause, Why string }
	}
	var gotReach, wantReach reach
	decode(s.must("", "GET", flags+"/f/reach", "").body, &gotReach)
	decode(`{"steps":[{"cause":"ENDED_REACH_CAUSE","why":"it held until 1 October 2090 00:00 UTC"},
		{"cause":"NOT_YET_REACH_CAUSE","why":"it holds from 1 December 2090 09:00 UTC until 24 December 2090 00:00 UTC"}]}`, &wantReach)
	if diff := cmp.Diff(wantReach, gotReach); diff != "" {
		t.Errorf("reach (-want +got):\n%s", diff)
	}

	// Now nothing changes; tomorrow a rule begins, and a day later it ends.
	exactly("POST", flags+"/plain/effect", `{"flag":{"name":"Plain","type":"BOOLEAN_FLAG_TYPE","enabled":true,"rollouts":[
		{"threshold":{"percentage":25,"value":false},"holdsFrom":"2090-11-02T00:00:00Z","holdsUntil":"2090-11-03T00:00:00Z"}]}}`,
		`{"type":"BOOLEAN_FLAG_TYPE","buckets":100,"typeChanged":false,"steps":[{"after":0}],"groups":[],"truncated":false,"everyone":"","later":[`+
			`{"at":"2090-11-02T00:00:00Z","effect":{"type":"BOOLEAN_FLAG_TYPE","buckets":100,"typeChanged":false,"steps":[{"after":0}],"groups":[{"membership":"EVERYONE_GROUP_MEMBERSHIP","changedSegments":[],"unchangedBuckets":75,"moves":[`+
			`{"buckets":25,"percentage":25,"from":{"reason":"DEFAULT_OUTCOME_REASON","match":false,"variantKey":"","enabled":true},"to":{"reason":"MATCH_OUTCOME_REASON","match":false,"variantKey":"","enabled":false},"toStep":0,"sameValue":false,"summary":"25% of all entities go from on to off"}]}],"truncated":false,"everyone":""}},`+
			`{"at":"2090-11-03T00:00:00Z","effect":{"type":"BOOLEAN_FLAG_TYPE","buckets":100,"typeChanged":false,"steps":[{"after":0}],"groups":[],"truncated":false,"everyone":""}}]}`)

	unused := func() (reasons []string) {
		var list struct {
			Flags []struct {
				Flag    struct{ Key string }
				Reasons []struct{ Text string }
			}
		}
		decode(s.must("", "GET", "/api/v1/namespaces/default/catalog/unused", "").body, &list)
		for _, f := range list.Flags {
			reasons = append(reasons, f.Flag.Key+": "+f.Reasons[0].Text)
		}
		return reasons
	}
	if diff := cmp.Diff([]string{"plain: everybody gets true"}, unused()); diff != "" {
		t.Errorf("unused before the last boundary (-want +got):\n%s", diff)
	}
	now = time.Date(2090, 12, 24, 0, 0, 0, 0, time.UTC)
	if diff := cmp.Diff([]string{"f: everybody gets false, since its schedule ended on 24 December 2090 00:00 UTC", "plain: everybody gets true"}, unused()); diff != "" {
		t.Errorf("unused after it (-want +got):\n%s", diff)
	}
}
