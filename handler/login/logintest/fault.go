package logintest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// Words is a string that the response of every [Fault] contains. Clients must never see it.
const Words = "hush-hush"

// Fault is a way in which a provider misbehaves.
type Fault struct {
	Name    string
	Handler http.HandlerFunc
}

// Faults returns ways to misbehave that end by themselves.
func Faults() []Fault {
	return []Fault{
		{"huge body", write("application/json", `{"issuer":"`+strings.Repeat(Words, 1<<18)+`"}`)},
		{"huge body after decompression", bomb},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere?"+Words, http.StatusFound)
		}},
		{"server error", status(http.StatusInternalServerError)},
		{"too many requests", status(http.StatusTooManyRequests)},
		{"malformed JSON", write("application/json", `{"issuer": `+Words)},
		{"JSON and something after it", write("application/json", `{} `+Words)},
		{"HTML", write("text/html", `<!doctype html><title>`+Words+`</title>`)},
		{"other JSON", write("application/json", `["`+Words+`"]`)},
		{"nothing", write("application/json", "")},
		{"truncated body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"issuer":"` + Words))
		}},
		{"closed connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"not HTTP", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = connection.Write([]byte(Words + "\r\n\r\n"))
				_ = connection.Close()
			}
		}},
	}
}

// Hang does not answer until the client disconnects. It sends on begun when it starts.
func Hang(begun chan<- struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a disconnect noticed
		begun <- struct{}{}
		untilClosed(r)
	}
}

// Drip sends the start of a body, and then nothing until the client disconnects.
func Drip(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte(`{"issuer":"` + Words))
	_ = http.NewResponseController(w).Flush()
	untilClosed(r)
}

// untilClosed returns when the client has disconnected. The server notices that only
// after the body of the request.
func untilClosed(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, Words, code) }
}

func write(mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write([]byte(body))
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text(value)))
}

// bomb sends a body that is small until it is decompressed.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write([]byte(`{"issuer":"` + strings.Repeat(Words, 1<<20) + `"}`))
	_ = z.Close()
}
