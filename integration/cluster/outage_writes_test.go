package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/integration/harness"
)

// evaluated is the expected result of an evaluation of the flag "f".
type evaluated struct {
	status  int  // HTTP status
	enabled bool // if the status is 200
}

var (
	on      = evaluated{http.StatusOK, true}
	off     = evaluated{http.StatusOK, false}
	missing = evaluated{status: http.StatusNotFound}
)

// lastWrites are writes of every kind to the namespace "last", in an order in which each
// succeeds. {id} in a path is the last id in a response to a previous write.
var lastWrites = []struct {
	name   string
	method string
	path   string
	body   any
	want   evaluated
}{
	{"create namespace", "POST", "/api/v1/namespaces", object{"key": "last", "name": "Last"}, missing},
	{"create flag", "POST", "/flags", object{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}, on},
	{"update flag", "PUT", "/flags/f", object{"name": "F", "enabled": false}, off},
	{"update namespace", "PUT", "", object{"name": "Renamed"}, off},
	{"create segment", "POST", "/segments", object{"key": "s", "name": "S", "matchType": "ALL_MATCH_TYPE"}, off},
	{"create rollout of the segment", "POST", "/flags/f/rollouts", object{"rank": 1, "segment": object{"segmentKey": "s", "value": true}}, on},
	{"create constraint", "POST", "/segments/s/constraints", object{"type": "STRING_COMPARISON_TYPE", "property": "p", "operator": "eq", "value": "x"}, on},
	{"update constraint", "PUT", "/segments/s/constraints/{id}", object{"type": "STRING_COMPARISON_TYPE", "property": "p", "operator": "neq", "value": "x"}, off},
	{"delete constraint", "DELETE", "/segments/s/constraints/{id}", nil, on},
	{"update segment", "PUT", "/segments/s", object{"name": "Renamed", "matchType": "ANY_MATCH_TYPE"}, on},
	{"create rollout", "POST", "/flags/f/rollouts", object{"rank": 2, "threshold": object{"percentage": 100, "value": false}}, on},
	{"update rollout", "PUT", "/flags/f/rollouts/{id}", object{"threshold": object{"percentage": 100, "value": true}}, on},
	{"delete rollout", "DELETE", "/flags/f/rollouts/{id}", nil, on},
	{"create variant flag", "POST", "/flags", object{"key": "v", "name": "V", "type": "VARIANT_FLAG_TYPE", "enabled": true}, on},
	{"create variant", "POST", "/flags/v/variants", object{"key": "one"}, on},
	{"update variant", "PUT", "/flags/v/variants/{id}", object{"key": "two"}, on},
	{"delete variant", "DELETE", "/flags/v/variants/{id}", nil, on},
	{"create rule", "POST", "/flags/v/rules", object{"segmentKey": "s", "rank": 1}, on},
	{"update rule", "PUT", "/flags/v/rules/{id}", object{"segmentKeys": []string{"s"}}, on},
	{"delete rule", "DELETE", "/flags/v/rules/{id}", nil, on},
	{"delete nothing", "DELETE", "/flags/none", nil, on},
	{"import", "POST", "/import", object{"document": importedFlags(1500)}, on},
	{"delete flag", "DELETE", "/flags/f", nil, missing},
	{"create flag again", "POST", "/flags", object{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}, on},
	{"delete namespace", "DELETE", "?force=true", nil, missing},
	{"create namespace again", "POST", "/api/v1/namespaces", object{"key": "last", "name": "Last"}, missing},
	{"create flag in it", "POST", "/flags", object{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}, on},
}

type object = map[string]any

func importedFlags(n int) object {
	var flags []any
	for i := range n {
		flags = append(flags, object{"key": fmt.Sprint("imported-", i), "name": "Imported"})
	}
	return object{"flags": flags}
}

// TestWriteThenOutage makes the database unavailable at a random time within half a second
// after a write, of every kind, has been acknowledged. The instance must continue to
// evaluate over HTTP and gRPC, with the written state or a later one.
func TestWriteThenOutage(t *testing.T) {
	for _, s := range harness.PrivateServers {
		for name, env := range map[string]func() []string{
			"strict":        func() []string { return nil },
			"bounded":       func() []string { return bounded(time.Second) },
			"through Redis": func() []string { return harness.ThroughRedis(harness.StartRedis(t).URL) },
		} {
			t.Run(s.Name+" "+name, func(t *testing.T) {
				s.Need(t)
				t.Parallel()
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				o := newWritesThenOutage(t, seed, s.Migrated(t), env()...)
				for _, w := range lastWrites {
					path := w.path
					if w.name != "create namespace" && w.name != "create namespace again" {
						path = "/api/v1/namespaces/last" + path
					}
					o.write(w.name, w.method, path, w.body, w.want)
				}
				o.tokens()
				o.unknownOutcomes()
			})
		}
	}
}

// TestWriteThenFreeze is TestWriteThenOutage for a database that does not reject
// connections but freezes. It makes only some of the writes, because each outage lasts as
// long as the first evaluation waits for the database.
func TestWriteThenFreeze(t *testing.T) {
	for _, s := range harness.PrivateServers {
		for name, env := range map[string][]string{"strict": nil, "bounded": bounded(100 * time.Millisecond)} {
			t.Run(s.Name+" "+name, func(t *testing.T) {
				s.Need(t)
				t.Parallel()
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				o := newWritesThenOutage(t, seed, s.Migrated(t), env...)
				o.hangs = true
				o.must("POST", "/api/v1/namespaces", object{"key": "last", "name": "Last"})
				o.write("create flag", "POST", "/api/v1/namespaces/last/flags", object{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE", "enabled": true}, on)
				o.write("update flag", "PUT", "/api/v1/namespaces/last/flags/f", object{"name": "F", "enabled": false}, off)
				o.write("delete flag", "DELETE", "/api/v1/namespaces/last/flags/f", nil, missing)
			})
		}
	}
}

// writesThenOutage is an instance whose database repeatedly becomes unavailable.
type writesThenOutage struct {
	t      *testing.T
	random *rand.Rand
	proxy  *tcpProxy
	hangs  bool // the database freezes instead of rejecting connections
	server *harness.Server
	other  *harness.Server // on the same database, without outages
	grpc   *grpc.ClientConn
	id     string // of the last object created
	acked  int64  // the last acknowledged revision of the namespace
}

func newWritesThenOutage(t *testing.T, seed uint64, database string, env ...string) *writesThenOutage {
	o := &writesThenOutage{t: t, random: rand.New(rand.NewPCG(seed, 0))}
	var through string
	o.proxy, through = newTCPProxy(t, database, 0, nil)
	env = append(env, failingFast, "GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+outageToken)
	o.server, o.other = harness.Start(t, through, env...), harness.Start(t, database, env...)
	var err error
	o.grpc, err = grpc.NewClient("passthrough:///"+strings.TrimPrefix(o.server.GRPC, "grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.grpc.Close() })
	return o
}

// outage makes the database unavailable shortly after a write, and available again when
// check has returned.
func (o *writesThenOutage) outage(check func()) {
	time.Sleep(time.Duration(o.random.Int64N(int64(500 * time.Millisecond)))) // the timing is being tested
	if o.hangs {
		o.proxy.freeze()
		check()
		o.proxy.thaw()
	} else {
		o.proxy.sever()
		check()
		o.proxy.restore(o.t)
	}
	for end := time.Now().Add(harness.Patience); ; {
		if o.evaluate(outageToken, "Cache-Control: no-cache").Status != http.StatusServiceUnavailable {
			return
		}
		if time.Now().After(end) {
			o.t.Fatal("the server did not detect the end of the outage")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// write makes one write, often after one by the other instance, and checks its effect
// while the database is unavailable.
func (o *writesThenOutage) write(name, method, path string, body any, want evaluated) {
	o.t.Helper()
	if o.random.IntN(2) == 0 && !strings.HasPrefix(name, "create namespace") {
		flag := object{"key": fmt.Sprint("other-", o.acked), "name": "Other"}
		o.other.Must(o.t, "POST", "/api/v1/namespaces/last/flags", flag, nil, authorization)
	}
	a := o.must(method, path, body)
	o.acked = revisionOf(o.t, a)
	o.outage(func() {
		for range 3 {
			o.wantEvaluated(name, outageToken, want)
		}
	})
}

// must makes a write, which must succeed, and records the id in its response.
func (o *writesThenOutage) must(method, path string, body any) harness.Answer {
	o.t.Helper()
	a := o.server.Must(o.t, method, strings.Replace(path, "{id}", o.id, 1), body, nil, authorization)
	var created struct{ ID string }
	if json.Unmarshal(a.Body, &created) == nil && created.ID != "" {
		o.id = created.ID
	}
	return a
}

func (o *writesThenOutage) evaluate(token string, headers ...string) harness.Answer {
	o.t.Helper()
	body := object{"namespaceKey": "last", "flagKey": "f", "entityId": "e", "context": object{"p": "x"}}
	a, err := o.server.Call(o.t.Context(), "POST", "/evaluate/v1/boolean", body, append(headers, "Authorization: Bearer "+token)...)
	if err != nil {
		o.t.Fatal(err)
	}
	return a
}

// wantEvaluated evaluates over both transports.
func (o *writesThenOutage) wantEvaluated(name, token string, want evaluated) {
	o.t.Helper()
	a := o.evaluate(token)
	var got struct{ Enabled bool }
	if a.Status == http.StatusOK && json.Unmarshal(a.Body, &got) != nil || a.Status != want.status || got.Enabled != want.enabled {
		o.t.Errorf("%s: status %d, want %d, enabled %t: %s", name, a.Status, want.status, want.enabled, a.Body)
	}
	if a.Status == http.StatusOK && revisionOf(o.t, a) < o.acked {
		o.t.Errorf("%s: revision %d after %d was acknowledged", name, revisionOf(o.t, a), o.acked)
	}
	ctx := metadata.AppendToOutgoingContext(o.t.Context(), "authorization", "Bearer "+token)
	ctx, cancel := context.WithTimeout(ctx, harness.Patience)
	defer cancel()
	response := new(evaluation.BooleanEvaluationResponse)
	err := o.grpc.Invoke(ctx, "/flipt.evaluation.EvaluationService/Boolean", &evaluation.EvaluationRequest{
		NamespaceKey: "last", FlagKey: "f", EntityId: "e", Context: map[string]string{"p": "x"},
	}, response)
	code := map[int]codes.Code{http.StatusOK: codes.OK, http.StatusNotFound: codes.NotFound, http.StatusUnauthorized: codes.Unauthenticated}[want.status]
	if status.Code(err) != code || response.GetEnabled() != want.enabled {
		o.t.Errorf("%s: gRPC: %v, enabled %t, want %v, %t", name, err, response.GetEnabled(), code, want.enabled)
	}
}

// tokens creates, expires and deletes tokens.
func (o *writesThenOutage) tokens() {
	o.t.Helper()
	create := func() (token, id string) {
		var created struct {
			ClientToken    string
			Authentication struct{ ID string }
		}
		o.server.Must(o.t, "POST", "/auth/v1/method/token", object{"name": "a"}, &created, authorization)
		return created.ClientToken, created.Authentication.ID
	}
	rejected := evaluated{status: http.StatusUnauthorized}
	first, id := create()
	o.outage(func() { o.wantEvaluated("create token", first, on) })
	second, _ := create()
	o.server.Must(o.t, "PUT", "/auth/v1/self/expire", nil, nil, "Authorization: Bearer "+second)
	o.outage(func() {
		o.wantEvaluated("expire token", second, rejected)
		o.wantEvaluated("expire another token", first, on)
	})
	o.server.Must(o.t, "DELETE", "/auth/v1/tokens/"+id, nil, nil, authorization)
	o.outage(func() {
		o.wantEvaluated("delete token", first, rejected)
		o.wantEvaluated("delete another token", outageToken, on)
	})
}

// unknownOutcomes makes the database unavailable in the middle of writes. Evaluations must
// always succeed.
func (o *writesThenOutage) unknownOutcomes() {
	o.t.Helper()
	for n := range 5 {
		written := make(chan harness.Answer, 1)
		go func() {
			a, err := o.server.Call(o.t.Context(), "PUT", "/api/v1/namespaces/last/flags/f",
				object{"name": fmt.Sprint(n), "enabled": true}, authorization)
			if err != nil {
				o.t.Error(err)
			}
			written <- a
		}()
		time.Sleep(time.Duration(o.random.Int64N(int64(6 * time.Millisecond)))) // the timing is being tested
		o.proxy.sever()
		for range 3 {
			o.wantEvaluated("during a write", outageToken, on)
		}
		if a := <-written; a.Status == http.StatusOK {
			o.acked = revisionOf(o.t, a)
		}
		o.wantEvaluated("after a write", outageToken, on)
		o.outage(func() { o.wantEvaluated("long after a write", outageToken, on) })
	}
}
