package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/guidonhq/guidon/integration/harness"
)

// Parameters of the floods, which have the size of an attack but last only a second
// unless FLOOD_TIME is set.
const (
	floodConnections = 200
	floodMemory      = 256 << 20 // limit of the server's resident memory
	floodLimit       = "GOMEMLIMIT=448MiB"
	floodToken       = "gdn_flood"
)

func floodTime(t *testing.T) time.Duration {
	text := os.Getenv("FLOOD_TIME")
	if text == "" {
		return time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// flood is one kind of attack. Each attacker calls send repeatedly, with its own
// connection, until the context ends. send returns the outcome for the statistics.
type flood struct {
	name string
	send func(ctx context.Context, s *harness.Server, token string) (outcome string, err error)
}

// repeated repeats the item until the result has at least size bytes, with each # replaced
// by a number.
func repeated(item string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return b.String()
}

func floods() []flood {
	const batch, boolean, ofrep = "/evaluate/v1/batch", "/evaluate/v1/boolean", "/ofrep/v1/evaluate/flags"
	long := strings.Repeat("x", 4<<20-100)
	return []flood{
		floodBody("90,000 empty members", "POST", boolean, `{"flagKey":"f","context":{`+repeated(`"#":"",`, 1<<20)+`"a":""}}`),
		floodBody("batch of empty items", "POST", batch, `{"requests":[`+repeated(`{},`, 150<<10)+`{}]}`),
		floodBody("legacy batch", "POST", "/api/v1/batch-evaluate", `{"requests":[`+repeated(`{},`, 150<<10)+`{}]}`),
		floodBody("4 MiB of text", "POST", boolean, `{"flagKey":"`+long+`"}`),
		floodBody("nested metadata", "POST", "/api/v1/flags", `{"key":"x","name":"x","metadata":{"a":[`+repeated(`[],`, 250<<10)+`[]]}}`),
		floodBody("OFREP context", "POST", ofrep, `{"context":{`+repeated(`"#":[{}],`, 900<<10)+`"a":1}}`),
		floodBody("import below 4 MiB", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[`+repeated(`{},`, 4<<20-100)+`{}]}}`),
		floodBody("short import", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[`+repeated(`{},`, 256<<10-100)+`{}]}}`),
		floodBody("import", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[`+repeated(`{},`, 4<<20)+`{}]}}`),
		floodHeaders("many header lines", repeated("x#: y\r\n", 900<<10)),
		floodHeaders("a large header line", "x: "+strings.Repeat("y", 900<<10)+"\r\n"),
		floodMessage("1a 00 to Batch", "/flipt.evaluation.EvaluationService/Batch", bytes.Repeat([]byte("\x1a\x00"), 2<<20-8)),
		floodMessage("12 00 to BatchEvaluate", "/flipt.Flipt/BatchEvaluate", bytes.Repeat([]byte("\x12\x00"), 2<<20-8)),
		floodMessage("90,000 values to Batch", "/flipt.evaluation.EvaluationService/Batch", bytes.Repeat([]byte("\x1a\x00"), 90_000)),
		floodMessage("99,000 empty flags to Import", "/guidon.v1.DocumentService/Import", emptyFlags(99_000)),
		floodMessage("2 million empty flags to Import", "/guidon.v1.DocumentService/Import", emptyFlags(2_000_000)),
		floodMessage("4 MiB of text over gRPC", "/flipt.evaluation.EvaluationService/Boolean", append([]byte{0x1a, 0xf6, 0xff, 0xff, 1}, bytes.Repeat([]byte("x"), 4<<20-10)...)),
		floodMessage("nothing", "/flipt.Flipt/CreateFlag", nil),
	}
}

// emptyFlags returns an encoded import of n empty flags.
func emptyFlags(n int) []byte {
	document := bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), nil), n)
	return protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), document)
}

// floodBody sends a request over HTTP and reads the response.
func floodBody(name, method, path, body string) flood {
	return flood{name, func(ctx context.Context, s *harness.Server, token string) (string, error) {
		return floodHTTP(ctx, s, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", method, path, token, len(body)), body)
	}}
}

// floodHeaders sends header lines, but never the end of the header.
func floodHeaders(name, header string) flood {
	return flood{name, func(ctx context.Context, s *harness.Server, token string) (string, error) {
		return floodHTTP(ctx, s, "GET /api/v1/flags HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n"+header, "")
	}}
}

func floodHTTP(ctx context.Context, s *harness.Server, header, body string) (string, error) {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL, "http://"), harness.Patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, header); err != nil {
		return "cut", nil
	}
	if body != "" {
		// The server may respond before it has read the whole body.
		go func() { _, _ = io.WriteString(conn, body) }()
	} else {
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "cut", nil
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.Status, nil
}

// floodMessage makes gRPC calls over a new connection.
func floodMessage(name, method string, message []byte) flood {
	return flood{name, func(ctx context.Context, s *harness.Server, token string) (string, error) {
		conn, err := grpc.NewClient("passthrough:///"+grpcAddress(s), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return "", err
		}
		defer conn.Close()
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
		for ctx.Err() == nil {
			var response []byte
			if message == nil {
				var stream grpc.ClientStream
				if stream, err = conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, grpc.ForceCodecV2(bytesCodec{})); err == nil {
					err = stream.RecvMsg(&response)
				}
			} else {
				err = conn.Invoke(ctx, method, message, &response, grpc.ForceCodecV2(bytesCodec{}))
			}
			if code := status.Code(err); code == codes.Unavailable && strings.Contains(err.Error(), "refused") {
				return "", err
			}
		}
		return status.Code(err).String(), nil
	}}
}

func grpcAddress(s *harness.Server) string {
	_, address, _ := strings.Cut(s.GRPC, "://")
	return address
}

// bytesCodec sends and receives encoded messages.
type bytesCodec struct{}

var _ encoding.CodecV2 = bytesCodec{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// TestFlood floods servers, which have the memory limit of the Helm chart, with the worst
// requests of each kind, with and without a token. Each server must survive within its
// memory limit, and continue to evaluate flags for other clients.
func TestFlood(t *testing.T) {
	for _, f := range floods() {
		t.Run(f.name, func(t *testing.T) {
			s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), floodLimit,
				"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
				"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+floodToken)
			authorization := "Authorization: Bearer " + floodToken
			s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE"}, nil, authorization)
			t.Run("without a token", func(t *testing.T) { flooded(t, s, f, "", authorization) })
			t.Run("with a token", func(t *testing.T) { flooded(t, s, f, floodToken, authorization) })
			s.Signal(t, syscall.SIGTERM)
			if code := s.Wait(t); code != 0 {
				t.Errorf("exit code %d after the floods, want 0", code)
			}
		})
	}
}

// flooded floods the server and evaluates a flag at the same time.
func flooded(t *testing.T, s *harness.Server, f flood, token, authorization string) {
	ctx, cancel := context.WithTimeout(t.Context(), floodTime(t))
	defer cancel()
	var mu sync.Mutex
	outcomes := map[string]int{}
	var attackers sync.WaitGroup
	for range floodConnections {
		attackers.Go(func() {
			for ctx.Err() == nil {
				outcome, err := f.send(ctx, s, token)
				if err != nil && ctx.Err() == nil {
					t.Errorf("the server has ended: %v", err)
					cancel()
				}
				mu.Lock()
				outcomes[outcome]++
				mu.Unlock()
			}
		})
	}
	var most atomic.Int64
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			most.Store(max(most.Load(), int64(resident(t, s))))
		}
	})
	var took []time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		answer, err := s.Call(context.WithoutCancel(ctx), "POST", "/evaluate/v1/boolean", map[string]any{"flagKey": "f", "entityId": "e"}, authorization)
		took = append(took, time.Since(began))
		if err != nil || answer.Status != http.StatusOK {
			t.Errorf("an evaluation during the flood: %d %s %v", answer.Status, answer.Body, err)
			if errors.Is(err, syscall.ECONNREFUSED) {
				break
			}
		}
	}
	attackers.Wait()
	watching.Wait()
	slices.Sort(took)
	t.Logf("%d MiB resident at most; %d evaluations during the flood, half within %v, 99 %% within %v; outcomes %v",
		most.Load()>>20, len(took), took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond), outcomes)
	if most.Load() > floodMemory {
		t.Errorf("%d MiB are resident, want at most %d", most.Load()>>20, floodMemory>>20)
	}
}
