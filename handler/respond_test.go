package handler_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestPretty tests contract 1.3: indentation by two spaces, and no zero values.
func TestPretty(t *testing.T) {
	s := newServer(t)
	want := "{\n  \"key\": \"default\",\n  \"name\": \"Default\",\n  \"description\": \"Default namespace\",\n  \"protected\": true,\n  \"createdAt\": \"TIME\",\n  \"updatedAt\": \"TIME\"\n}"
	for _, r := range []reply{
		s.do("GET", "/api/v1/namespaces/default?pretty", ""),
		s.do("GET", "/api/v1/namespaces/default?x=1&pretty=true", ""),
		s.do("GET", "/api/v1/namespaces/default", "", "Accept", "application/json+pretty"),
	} {
		body := strings.ReplaceAll(stable(strings.ReplaceAll(r.body, `: "20`, `:"20`)), `:"TIME"`, `: "TIME"`)
		if body != want || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %q", body, r.header.Get("Content-Type"))
		}
	}
	s.do("GET", "/api/v1/namespaces/x?pretty", "").check(t, 404, "{\n  \"code\": 5,\n  \"message\": \"namespace \\\"x\\\" not found\"\n}")
	s.do("GET", "/api/v1/nope?pretty", "").check(t, 404, "{\n  \"code\": 5,\n  \"message\": \"Not Found\"\n}")
	s.do("POST", "/api/v1/evaluate?pretty", "{").check(t, 400, "{\n  \"code\": 3,\n  \"message\": \"unexpected EOF\"\n}")
	var config bytes.Buffer
	if err := json.Indent(&config, []byte(s.do("GET", "/meta/config", "").body), "", "  "); err != nil {
		t.Error(err)
	}
	s.do("GET", "/meta/config?pretty", "").check(t, 200, config.String())
	s.do("GET", "/health?pretty", "").check(t, 200, "{\n  \"status\": \"SERVING\"\n}")
	if r := s.do("GET", "/api/v1/namespaces?prettyish&reference=pretty", ""); strings.Contains(r.body, "\n") {
		t.Errorf("pretty without being requested: %s", r.body)
	}
}

// TestCompression tests contract 1.3 for responses that are large enough to be
// compressed.
func TestCompression(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"small","name":"S"}`)
	s.must("", "POST", "/api/v1/flags", `{"key":"large","name":"L","description":"`+strings.Repeat("<large> ", 500)+`"}`)
	large := s.must("", "GET", "/api/v1/flags/large", "")
	for _, test := range []struct {
		accept   []string
		encoding string
	}{
		{nil, ""},
		{[]string{"gzip"}, "gzip"},
		{[]string{"GZIP"}, "gzip"},
		{[]string{"deflate, gzip;q=0.5, br"}, "gzip"},
		{[]string{"br", "deflate;q=0.1"}, "deflate"},
		{[]string{"gzip;q=0, deflate"}, "deflate"},
		{[]string{"gzip; q=0.000"}, ""},
		{[]string{"gzip;Q=0"}, ""},
		{[]string{"identity, br"}, ""},
		{[]string{"gzip;q=x"}, ""},
		{[]string{"*"}, "gzip"},
		{[]string{"identity;q=0, *;q=0.1"}, "gzip"},
		{[]string{"gzip;q=0, *"}, "deflate"},
		{[]string{"*, gzip;q=0", "deflate;q=0"}, ""},
		{[]string{"*;q=0"}, ""},
		{[]string{"identity;q=0"}, ""},
	} {
		var headers []string
		for _, value := range test.accept {
			headers = append(headers, "Accept-Encoding", value)
		}
		r := s.must("", "GET", "/api/v1/flags/large", "", headers...)
		if got := r.header.Get("Content-Encoding"); got != test.encoding {
			t.Errorf("%v: Content-Encoding %q, want %q", test.accept, got, test.encoding)
		}
		if got := decompress(t, r); got != large.body {
			t.Errorf("%v: %q", test.accept, got)
		}
		if got := r.header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("%v: Vary %q", test.accept, got)
		}
		if test.encoding != "" && len(r.body) > len(large.body)/2 {
			t.Errorf("%v: %d bytes", test.accept, len(r.body))
		}
		small := s.must("", "GET", "/api/v1/flags/small", "", headers...)
		if small.header.Get("Content-Encoding") != "" || small.field(t, "key") != "small" {
			t.Errorf("%v: a small body is compressed", test.accept)
		}
	}
	if r := s.do("GET", "/openapi.yaml", "", "Accept-Encoding", "gzip"); !strings.HasPrefix(decompress(t, r), `openapi: "3`) {
		t.Errorf("openapi.yaml: %d %.100s", r.status, r.body)
	}
}

func decompress(t *testing.T, r reply) string {
	t.Helper()
	var reader io.Reader = strings.NewReader(r.body)
	var err error
	switch r.header.Get("Content-Encoding") {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "deflate":
		reader, err = zlib.NewReader(reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
