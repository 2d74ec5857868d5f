package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// TestRamp: a share follows its ramp in every form of the flag, and so does what an action on it
// changes.
func TestRamp(t *testing.T) {
	start := flagtest.FuzzedStart.AddDate(60, 0, 0)
	now := start.Add(-time.Hour)
	s := newInside(t, "it has a clock", func(c *handler.Config) {
		c.Service = service.NewService(cache.New(newDB(t)), func() time.Time { return now })
	})
	const flag, ramp = "/api/v1/namespaces/default/flags/f", `"ramp":{"start":"2086-12-01T09:00:00Z","initial":5,"over":"360000s"`
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	created := s.must("r", "POST", flag+"/rollouts", `{"rank":1,"threshold":{"percentage":100,"value":true,`+ramp+`}}}`)
	if !strings.Contains(created.body, ramp) {
		t.Errorf("created: got %s, want %s", created.body, ramp)
	}
	users := func() (on int) {
		for i := range 100 {
			answer := s.must("", "POST", "/evaluate/v1/boolean", fmt.Sprintf(`{"flagKey":"f","entityId":"user-%d","context":{}}`, i))
			if strings.Contains(answer.body, `"enabled":true`) {
				on++
			}
		}
		return on
	}
	tags := map[string]bool{}
	for _, c := range []struct {
		after   time.Duration
		percent string // of the first minute with as many buckets
		text    string
	}{
		{-time.Hour, "5", "(5% now, starting on 1 December 2086 09:00 UTC, 100% on 5 December 2086 13:00 UTC)"},
		{20 * time.Hour, "23.05", "(24% now, 100% on 5 December 2086 13:00 UTC)"},
		{98 * time.Hour, "98.1", "(98.1% now, 100% on 5 December 2086 13:00 UTC)"},
		{100 * time.Hour, "100", "(100% now, since 5 December 2086 13:00 UTC)"},
	} {
		now = start.Add(c.after)
		snapshot := s.must("", "GET", defaultSnapshot, "")
		if !strings.Contains(snapshot.body, `"threshold":{"percentage":`+c.percent+`,"value":true}`) || strings.Contains(snapshot.body, "omitted") {
			t.Errorf("after %v: got the snapshot %s, want %s percent", c.after, snapshot.body, c.percent)
		}
		if tag := snapshot.header.Get("ETag"); tags[tag] {
			t.Errorf("after %v: the ETag is that of another percentage", c.after)
		} else {
			tags[tag] = true
		}
		if got := s.must("", "POST", flag+"/explain", `{"entityId":"ann"}`).body; !strings.Contains(got, c.text) {
			t.Errorf("after %v: got %s, want %s", c.after, got, c.text)
		}
		if got := s.must("", "GET", flag+"/content", "").body; !strings.Contains(got, `"percentage":100,"value":true,`+ramp) {
			t.Errorf("after %v: got the content %s, want the target and the ramp", c.after, got)
		}
	}
	if on := users(); on != 100 {
		t.Errorf("at the end the flag is on for %d of 100", on)
	}

	now = start.Add(20 * time.Hour)
	on := users()
	s.do("POST", flag+"/ramp", `{"action":"RESUME_RAMP_ACTION"}`).check(t, 412, `{"code":9,"message":"the ramp is not paused","details":[]}`)
	s.do("POST", flag+"/ramp", `{"action":"PAUSE_RAMP_ACTION","rule":2}`).check(t, 400, `{"code":3,"message":"rule 2 of flag \"f\" has no ramp","details":[]}`)
	effect := s.must("", "POST", flag+"/effect", `{"ramp":"REVERSE_RAMP_ACTION"}`).body
	if !strings.Contains(effect, `"groups":[],`) || !strings.Contains(effect, `"later":[{"at":"2086-12-02T06:00:00Z"`) {
		t.Errorf("effect of reversing: got %s, want one that begins with the next change", effect)
	}
	s.do("POST", flag+"/effect", `{"ramp":"STOP_RAMP_ACTION","turnOn":true}`).check(t, 400, `{"code":3,"message":"invalid field flag, turnOn or ramp: only one can be present","details":[]}`)
	s.must("", "POST", flag+"/ramp", `{"action":"REVERSE_RAMP_ACTION","message":"Too many errors"}`)
	if at := users(); at != on {
		t.Errorf("reversed: on for %d, before for %d", at, on)
	}
	const first = `{"boundaries":[{"at":"2086-12-02T06:01:00Z","rules":[{"number":1,"ends":false,"percentage":22.1,"text":"rule 1 is for 22.1%"}]},`
	const last = `{"at":"2086-12-03T00:01:00Z","rules":[{"number":1,"ends":false,"percentage":5,"text":"rule 1 is for 5%"}]}],"truncated":false}`
	if got := s.must("", "GET", flag+"/timeline", "").body; !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
		t.Errorf("timeline: got %s", got)
	}
	now = now.Add(21 * time.Hour)
	if !strings.Contains(s.must("", "POST", flag+"/explain", `{"entityId":"ann"}`).body, "(5% now, back to 5% on 3 December 2086 01:00 UTC)") {
		t.Error("run back: the explanation does not say so")
	}
	s.must("", "POST", flag+"/ramp", `{"rule":1,"action":"STOP_RAMP_ACTION"}`)
	if got := s.must("", "GET", flag+"/content", "").body; !strings.Contains(got, `"threshold":{"percentage":5,"value":true}`) {
		t.Errorf("stopped: got %s", got)
	}
}
