package integration

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
)

// TestTenServersAtOnce starts ten servers on an empty database: one creates the
// schema, one the first token, and all serve.
func TestTenServersAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		c := startCluster(t, 10, s.empty(t), "GUIDON_DB_MIGRATE_ON_START=true",
			"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
		var tokens []string
		for _, s := range c {
			tokens = append(tokens, regexp.MustCompile(`gdn_[-_A-Za-z0-9]+=*`).FindAllString(s.Log(), -1)...)
		}
		if len(tokens) != 1 {
			t.Fatalf("%d first tokens were created, want 1", len(tokens))
		}
		authorization := "Authorization: Bearer " + tokens[0]
		for i, s := range c {
			s.must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("flag-", i), "name": "Flag"}, nil, authorization)
		}
		var list struct{ TotalCount int }
		c[0].must(t, "GET", "/api/v1/namespaces/default/flags", nil, &list, authorization)
		if list.TotalCount != len(c) {
			t.Errorf("%d flags, want %d", list.TotalCount, len(c))
		}
	})
}

// TestUnmigratedDatabaseIsRefused: a shared database is migrated only when told.
func TestUnmigratedDatabaseIsRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		refused := launch(t, s.empty(t))
		if code := refused.Wait(t); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		if log := refused.Log(); !strings.Contains(log, "guidon migrate up") {
			t.Errorf("the log does not say what to run:\n%s", log)
		}
	})
}

// TestLinearizable lets 24 clients of three instances read and write registers
// that are flags of one namespace. There is an order of all the calls that agrees
// with real time, in which every write takes the next revision, and every read
// has what was written last and the revision of that moment.
func TestLinearizable(t *testing.T) {
	const calls = 25
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		linearizable(t, startCluster(t, instances, s.migrated(t)), 2, func(n int) bool { return n < calls })
	})
}

// linearizable lets the clients make calls, one in so many a write, as long as
// there are to be more, by the count of each client, and checks what they saw.
func linearizable(t *testing.T, c cluster, writes int, more func(n int) bool) {
	t.Helper()
	const clients = 24
	var begun registers
	for i := range begun.values {
		begun.values[i] = "0"
		c[0].must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": registerKey(i), "name": "0"}, nil)
	}
	begun.revision = revisionOf(t, c[0].must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil))
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
	if got := porcupine.CheckOperationsTimeout(registerModel(begun, reads), all, patience); got != porcupine.Ok {
		t.Errorf("the history is not linearizable: %v", got)
	}
	for _, s := range c {
		newLedger().check(t, s) // revisions without gap, records that replay to the data
	}
}

// registers is the state of the namespace. The revision is part of it, so that
// the order of the calls is known but for reads of one revision, which commute.
type registers struct {
	revision int64
	values   [3]string
	reads    int // of this revision so far
}

func registerKey(i int) string { return fmt.Sprint("register-", i) }

// registerCall is the input of one call: a read where write is "".
type registerCall struct {
	register int
	write    string
}

// registerResult is what one call put out; value is what was read.
type registerResult struct {
	revision int64
	value    string
}

// registerModel says how registers behave that begin with the state. How often
// each revision is read is given, because no write can come before the last read
// of the revision before it. This only spares the checker guesses that cannot
// come true; with them, some histories take minutes.
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

// history is what one client did and saw.
type history struct {
	t      *testing.T
	client int
	server *server
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
	a, err := h.server.call(h.t.Context(), method, path, body)
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

// revisionOf returns the revision that the answer bears.
func revisionOf(t *testing.T, a answer) int64 {
	t.Helper()
	revision, err := strconv.ParseInt(a.Header.Get("Guidon-Revision"), 10, 64)
	if err != nil {
		t.Errorf("Guidon-Revision: %v", err)
	}
	return revision
}
