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
// that are flags of one namespace. There is an order of all the calls in which
// each read returns what was written last, and which agrees with real time.
func TestLinearizable(t *testing.T) {
	const clients, calls = 24, 25
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		c := startCluster(t, instances, s.migrated(t))
		for _, key := range registers {
			c[0].must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": "0"}, nil)
		}
		histories := make([]history, clients)
		begin := time.Now()
		var running sync.WaitGroup
		for i := range histories {
			histories[i] = history{t: t, client: i, server: c[i%len(c)], begin: begin}
			running.Go(func() { histories[i].run(calls) })
		}
		running.Wait()
		t.Logf("%d calls in %v", clients*calls, time.Since(begin))

		var all []porcupine.Operation
		writer := map[int64]string{} // by revision
		for _, h := range histories {
			all = append(all, h.operations...)
			for revision, value := range h.writes {
				if other, taken := writer[revision]; taken {
					t.Errorf("revision %d was given to the writes of %s and of %s", revision, other, value)
				}
				writer[revision] = value
			}
		}
		if got := porcupine.CheckOperationsTimeout(registerModel, all, patience); got != porcupine.Ok {
			t.Errorf("the history is not linearizable: %v", got)
		}
		for _, s := range c {
			newLedger().check(t, s) // revisions without gap, records that replay to the data
		}
	})
}

var registers = []string{"register-a", "register-b", "register-c"}

// registerCall is the input of one call: a read where write is "".
type registerCall struct{ key, write string }

// registerModel says how registers behave. What a call puts out is the value that
// it read.
var registerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(registerCall).key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "0" },
	Step: func(state, input, output any) (bool, any) {
		if call := input.(registerCall); call.write != "" {
			return true, call.write
		}
		return output == state, state
	},
}

// history is what one client did and saw.
type history struct {
	t      *testing.T
	client int
	server *server
	begin  time.Time

	operations []porcupine.Operation
	writes     map[int64]string // value by revision
	newest     int64            // revision seen
}

func (h *history) run(calls int) {
	h.writes = map[int64]string{}
	for n := range calls {
		call := registerCall{key: registers[rand.IntN(len(registers))]}
		if rand.IntN(2) == 0 {
			call.write = fmt.Sprintf("%d.%d", h.client, n)
		}
		operation := porcupine.Operation{ClientId: h.client, Input: call, Call: int64(time.Since(h.begin))}
		value, ok := h.call(call)
		if !ok {
			return
		}
		operation.Output, operation.Return = value, int64(time.Since(h.begin))
		h.operations = append(h.operations, operation)
	}
}

func (h *history) call(call registerCall) (value string, ok bool) {
	path := "/api/v1/namespaces/default/flags/" + call.key
	method, body := "GET", any(nil)
	if call.write != "" {
		method, body = "PUT", map[string]any{"name": call.write}
	}
	a, err := h.server.call(h.t.Context(), method, path, body)
	if err != nil || a.Status != http.StatusOK {
		h.t.Errorf("%s %s: %v, status %d: %s", method, path, err, a.Status, a.Body)
		return "", false
	}
	revision, err := strconv.ParseInt(a.Header.Get("Guidon-Revision"), 10, 64)
	if err != nil || revision < h.newest {
		h.t.Errorf("revision %d after %d: %v", revision, h.newest, err)
	}
	h.newest = revision
	if call.write != "" {
		h.writes[revision] = call.write
		return "", true
	}
	var read flag
	if err := json.Unmarshal(a.Body, &read); err != nil {
		h.t.Errorf("%s %s: %v in %s", method, path, err, a.Body)
		return "", false
	}
	return read.Name, true
}
