package cluster

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestTenServersAtOnce starts ten servers on an empty database. One creates the schema,
// one creates the bootstrap token, and all serve.
func TestTenServersAtOnce(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		c := startCluster(t, 10, s.Empty(t), "GUIDON_DB_MIGRATE_ON_START=true",
			"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
		var tokens []string
		for _, s := range c {
			tokens = append(tokens, regexp.MustCompile(`gdn_[-_A-Za-z0-9]+=*`).FindAllString(s.Log(), -1)...)
		}
		if len(tokens) != 1 {
			t.Fatalf("%d bootstrap tokens were created, want 1", len(tokens))
		}
		authorization := "Authorization: Bearer " + tokens[0]
		for i, s := range c {
			s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("flag-", i), "name": "Flag"}, nil, authorization)
		}
		var list struct{ TotalCount int }
		c[0].Must(t, "GET", "/api/v1/namespaces/default/flags", nil, &list, authorization)
		if list.TotalCount != len(c) {
			t.Errorf("%d flags, want %d", list.TotalCount, len(c))
		}
	})
}

// TestUnmigratedDatabaseIsRefused: a server does not migrate a shared database unless it
// is configured to.
func TestUnmigratedDatabaseIsRefused(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		refused := harness.Launch(t, s.Empty(t))
		if code := refused.Wait(t); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		if log := refused.Log(); !strings.Contains(log, "guidon migrate up") {
			t.Errorf("the log does not name the command to run:\n%s", log)
		}
	})
}

// TestLinearizable has 24 clients of three instances read and write registers, which are
// flags of one namespace. There must be an order of all calls, consistent with real time,
// in which every write gets the next revision, and every read returns the last value
// written and the revision at that point.
func TestLinearizable(t *testing.T) {
	const calls = 25
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		linearizable(t, startCluster(t, instances, s.Migrated(t)), 2, func(n int) bool { return n < calls })
	})
}

// linearizable has the clients make calls, one in writes of which is a write, and checks
// the results. A client continues as long as more returns true for the number of its calls.
func linearizable(t *testing.T, c cluster, writes int, more func(n int) bool) {
	t.Helper()
	const clients = 24
	var begun registers
	for i := range begun.values {
		begun.values[i] = "0"
		c[0].Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": registerKey(i), "name": "0"}, nil)
	}
	begun.revision = revisionOf(t, c[0].Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil))
	histories := make([]history, clients)
	begin := time.Now()
	var running sync.WaitGroup
	for i := range histories {
		histories[i] = history{t: t, client: i, server: c[i%len(c)], begin: begin}
		running.Go(func() { histories[i].run(writes, more) })
	}
	running.Wait()
	took := time.Since(begin)

	var all []porcupine.Operation
	reads := map[int64]int{}
	for _, h := range histories {
		all = append(all, h.operations...)
		for _, o := range h.operations {
			if o.Input.(registerCall).write == "" {
				reads[o.Output.(registerResult).revision]++
			}
		}
	}
	t.Logf("%d calls in %v", len(all), took)
	if got := porcupine.CheckOperationsTimeout(registerModel(begun, reads), all, harness.Patience); got != porcupine.Ok {
		t.Errorf("the history is not linearizable: %v", got)
	}
	for _, s := range c {
		newLedger().check(t, s) // revisions have no gaps, and records replay to the data
	}
}

// registers is the state of the namespace. It includes the revision, so that the order of
// the calls is known except for reads at the same revision, which commute.
type registers struct {
	revision int64
	values   [3]string
	reads    int // at this revision so far
}

func registerKey(i int) string { return fmt.Sprint("register-", i) }

// registerCall is the input of one call, which is a read if write is empty.
type registerCall struct {
	register int
	write    string
}

// registerResult is the output of one call. value is empty for a write.
type registerResult struct {
	revision int64
	value    string
}

// registerModel is the model of registers with the given initial state. reads is the
// number of reads at each revision, because no write can come before the last read at the
// previous one. It only prunes impossible orders, without which some histories would take
// minutes to check.
func registerModel(begun registers, reads map[int64]int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begun },
		Step: func(state, input, output any) (bool, any) {
			now, call, result := state.(registers), input.(registerCall), output.(registerResult)
			if call.write == "" {
				now.reads++
				return result == registerResult{revision: now.revision, value: now.values[call.register]}, now
			}
			if now.reads != reads[now.revision] {
				return false, now
			}
			now.revision, now.reads = now.revision+1, 0
			now.values[call.register] = call.write
			return result.revision == now.revision, now
		},
	}
}

// history records the calls of one client.
type history struct {
	t      *testing.T
	client int
	server *harness.Server
	begin  time.Time

	operations []porcupine.Operation
}

func (h *history) run(writes int, more func(n int) bool) {
	for n := 0; more(n); n++ {
		call := registerCall{register: rand.IntN(len(registers{}.values))}
		if rand.IntN(writes) == 0 {
			call.write = fmt.Sprintf("%d.%d", h.client, n)
		}
		operation := porcupine.Operation{ClientId: h.client, Input: call, Call: int64(time.Since(h.begin))}
		result, ok := h.call(call)
		if !ok {
			return
		}
		operation.Output, operation.Return = result, int64(time.Since(h.begin))
		h.operations = append(h.operations, operation)
	}
}

func (h *history) call(call registerCall) (result registerResult, ok bool) {
	path := "/api/v1/namespaces/default/flags/" + registerKey(call.register)
	method, body := "GET", any(nil)
	if call.write != "" {
		method, body = "PUT", map[string]any{"name": call.write}
	}
	a, err := h.server.Call(h.t.Context(), method, path, body)
	if err != nil || a.Status != http.StatusOK {
		h.t.Errorf("%s %s: %v, status %d: %s", method, path, err, a.Status, a.Body)
		return registerResult{}, false
	}
	result.revision = revisionOf(h.t, a)
	if call.write != "" {
		return result, true
	}
	var read flag
	if err := json.Unmarshal(a.Body, &read); err != nil {
		h.t.Errorf("%s %s: %v in %s", method, path, err, a.Body)
		return registerResult{}, false
	}
	result.value = read.Name
	return result, true
}

// revisionOf returns the revision in the header of the response.
func revisionOf(t *testing.T, a harness.Answer) int64 {
	t.Helper()
	revision, err := strconv.ParseInt(a.Header.Get("Guidon-Revision"), 10, 64)
	if err != nil {
		t.Errorf("Guidon-Revision: %v", err)
	}
	return revision
}
