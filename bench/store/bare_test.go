package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/bench/floor"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/store"
)

// asBareServer makes the test binary run as a bare server. Its value is the URL of the
// database from which it reads a row before each response, or empty for none.
const asBareServer = "TEST_BINARY_IS_BARE_SERVER"

// bareServer starts a minimal server, in a separate process like the real one. If there
// is a database, it reads one row, that of the namespace, before each response.
func bareServer(b *testing.B, database string) *harness.Server {
	b.Helper()
	process := exec.Command(os.Args[0]) // #nosec G204 -- ourselves
	process.Env = append(os.Environ(), asBareServer+"="+database)
	process.Stderr = os.Stderr
	pipe, err := process.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	address, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return &harness.Server{URL: "http://" + strings.TrimSpace(address)}
}

// runBareServer is the process that bareServer starts. It prints its address.
func runBareServer(database string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := bareHandler{answer: []byte(`"` + strings.Repeat("x", 230) + `"`)}
	if database != "" {
		db, err := store.Open(context.Background(), database, store.Options{})
		if err != nil {
			return err
		}
		handler.rows = db.SQL()
		handler.rows.SetMaxIdleConns(16)
	}
	fmt.Println(l.Addr())
	return http.Serve(l, handler) // #nosec G114 -- on loopback, for a benchmark
}

type bareHandler struct {
	answer []byte
	rows   *sql.DB
}

func (h bareHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request floor.Evaluation
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if h.rows != nil {
		var revision guidon.Revision
		err := h.rows.QueryRowContext(r.Context(), "SELECT revision, stamp FROM namespaces WHERE namespace_key = $1", request.NamespaceKey).
			Scan(&revision.Number, &revision.Stamp)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(h.answer)
}
