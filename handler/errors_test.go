package handler_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// TestCodes tests contract 5.2, with three additions.
func TestCodes(t *testing.T) {
	for code, want := range map[guidon.Code][2]int{
		call.OK:                   {0, 200},
		guidon.Canceled:           {1, 499},
		guidon.InvalidArgument:    {3, 400},
		guidon.DeadlineExceeded:   {4, 504},
		guidon.NotFound:           {5, 404},
		guidon.PermissionDenied:   {7, 403},
		guidon.TooLarge:           {8, 413},
		guidon.Limited:            {8, 429},
		guidon.FailedPrecondition: {9, 412},
		guidon.Unimplemented:      {12, 501},
		guidon.Internal:           {13, 500},
		guidon.Unavailable:        {14, 503},
		guidon.Unauthenticated:    {16, 401},
		guidon.Code(99):           {13, 500},
	} {
		if got := [2]int{int(call.GRPCCode(code)), call.HTTPStatus(code)}; got != want {
			t.Errorf("%v: %v, want %v", code, got, want)
		}
	}
}

// newShop returns a server with objects of every kind.
func newShop(t *testing.T, options ...func(*handler.Config)) *server {
	return newServer(t, options...).stock()
}

// stock creates objects of every kind in the server's database.
func (s *server) stock() *server {
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","enabled":true}`)
	s.must("v", "POST", "/api/v1/flags/f/variants", `{"key":"v","attachment":"{\"a\":1}"}`)
	s.must("w", "POST", "/api/v1/flags/f/variants", `{"key":"w"}`)
	s.must("", "POST", "/api/v1/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("t", "POST", "/api/v1/namespaces/default/flags/b/rollouts", `{"rank":1,"threshold":{"percentage":50,"value":true}}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"s","name":"S"}`)
	s.must("r", "POST", "/api/v1/flags/f/rules", `{"segmentKey":"s","rank":1}`)
	s.must("d", "POST", "/api/v1/flags/f/rules/{r}/distributions", `{"variantId":"{v}","rollout":100}`)
	return s
}

// TestErrors tests the rows of contract 5.3, and the rules of contract 4 that apply to
// the wire only.
func TestErrors(t *testing.T) {
	s := newShop(t)
	const n = "/api/v1/namespaces/default"
	for _, test := range []struct {
		name, method, path, body string
		status, code             int
		message                  string
	}{
		{"namespace unknown on get", "GET", "/api/v1/namespaces/x", "", 404, 5, `namespace "x" not found`},
		{"namespace unknown on update", "PUT", "/api/v1/namespaces/x", `{"name":"X"}`, 404, 5, `namespace "x" not found`},
		{"namespace unknown on delete", "DELETE", "/api/v1/namespaces/x", "", 404, 5, `namespace "x" not found`},
		{"flag in an unknown namespace", "POST", "/api/v1/namespaces/x/flags", `{"key":"k","name":"K"}`, 404, 5, `namespace "x" not found`},
		{"segment in an unknown namespace", "POST", "/api/v1/namespaces/x/segments", `{"key":"k","name":"K"}`, 404, 5, `namespace "x" not found`},
		{"flag unknown on get", "GET", n + "/flags/x", "", 404, 5, `flag "default/x" not found`},
		{"flag unknown on update", "PUT", n + "/flags/x", `{"name":"X"}`, 404, 5, `flag "default/x" not found`},
		{"flag unknown on evaluation", "POST", "/evaluate/v1/variant", `{"flagKey":"x","namespaceKey":"y"}`, 404, 5, `flag "y/x" not found`},
		{"flag unknown on boolean evaluation", "POST", "/evaluate/v1/boolean", `{}`, 404, 5, `flag "default/" not found`},
		{"flag unknown on variant create", "POST", n + "/flags/x/variants", `{"key":"v"}`, 404, 5, `flag "default/x" not found`},
		{"segment unknown on get", "GET", n + "/segments/x", "", 404, 5, `segment "default/x" not found`},
		{"segment unknown on update", "PUT", n + "/segments/x", `{"name":"X"}`, 404, 5, `segment "default/x" not found`},
		{"segment unknown on constraint create", "POST", n + "/segments/x/constraints", `{"type":1,"property":"p","operator":"eq","value":"v"}`, 404, 5, `segment "default/x" not found`},
		{"variant unknown on update", "PUT", n + "/flags/f/variants/x", `{"key":"k"}`, 404, 5, `variant "k" not found`},
		{"constraint unknown on update", "PUT", n + "/segments/s/constraints/x", `{"type":1,"property":"p","operator":"eq","value":"v"}`, 404, 5, `constraint "x" not found`},
		{"rule unknown on get", "GET", n + "/flags/f/rules/x", "", 404, 5, `rule "default/x" not found`},
		{"rule unknown on update", "PUT", n + "/flags/f/rules/x", `{"segmentKey":"s"}`, 404, 5, `rule "default/x" not found`},
		{"rollout unknown on get", "GET", n + "/flags/b/rollouts/x", "", 404, 5, `rollout "default/x" not found`},
		{"rollout unknown on update", "PUT", n + "/flags/b/rollouts/x", `{"threshold":{}}`, 404, 5, `rollout "default/x" not found`},
		{"distribution unknown on update", "PUT", n + "/flags/f/rules/{r}/distributions/x", `{"variantId":"{v}"}`, 404, 5, `distribution "x" not found`},
		{"rule on an unknown segment", "POST", n + "/flags/f/rules", `{"segmentKey":"x","rank":1}`, 404, 5, `flag "default/f" or segment "default/x" not found`},
		{"rule on unknown segments", "POST", n + "/flags/f/rules", `{"segmentKeys":["s","x"],"rank":1}`, 404, 5, `flag "default/f" or segment "default/" not found`},
		{"segment rollout on an unknown segment", "POST", n + "/flags/b/rollouts", `{"rank":2,"segment":{"segmentKey":"x"}}`, 404, 5, `flag "default/b or segment x" not found`},
		{"threshold rollout on an unknown flag", "POST", n + "/flags/x/rollouts", `{"threshold":{}}`, 404, 5, `flag "default/x" not found`},
		{"distribution to an unknown variant", "POST", n + "/flags/f/rules/r/distributions", `{"variantId":"x"}`, 404, 5, `variant "x", rule "r", flag "f" in namespace "default" not found`},
		{"duplicate namespace", "POST", "/api/v1/namespaces", `{"key":"default","name":"D"}`, 400, 3, `namespace "default" is not unique`},
		{"duplicate flag", "POST", n + "/flags", `{"key":"f","name":"F"}`, 400, 3, `flag "default/f" is not unique`},
		{"duplicate segment", "POST", n + "/segments", `{"key":"s","name":"S"}`, 400, 3, `segment "default/s" is not unique`},
		{"duplicate variant", "POST", n + "/flags/f/variants", `{"key":"v"}`, 400, 3, `variant "v" is not unique for flag "default/f"`},
		{"duplicate variant on update", "PUT", n + "/flags/f/variants/{w}", `{"key":"v"}`, 400, 3, `variant "v" is not unique for flag "default/f"`},
		{"bad default variant", "PUT", n + "/flags/f", `{"name":"F","defaultVariantId":"x"}`, 400, 3, `variant "x" not found for flag "default/f"`},
		{"segment in use", "DELETE", n + "/segments/s", "", 400, 3, `segment "default/s" is in use`},
		{"bad page token", "GET", n + "/flags?limit=1&pageToken=x", "", 400, 3, `pageToken is not valid: "x"`},
		{"page token without limit", "GET", n + "/flags?pageToken=x", "", 400, 3, `limit must be set when offset or pageToken is set`},
		{"page token without limit, segments", "GET", n + "/segments?pageToken=x", "", 400, 3, `limit must be set when offset or pageToken is set`},
		{"page token without limit, rules", "GET", n + "/flags/f/rules?pageToken=x", "", 400, 3, `limit must be set when offset or pageToken is set`},
		{"bad page token of namespaces", "GET", "/api/v1/namespaces?pageToken=x", "", 400, 3, `pageToken is not valid: "x"`},
		{"bad page token of namespaces with an offset", "GET", "/api/v1/namespaces?offset=1&pageToken=x", "", 400, 3, `pageToken is not valid: "x"`},
		{"bad page token of namespaces with a negative limit", "GET", "/api/v1/namespaces?limit=-1&pageToken=x", "", 400, 3, `pageToken is not valid: "x"`},
		{"bad page token of rollouts", "GET", n + "/flags/b/rollouts?pageToken=x", "", 400, 3, `pageToken is not valid: "x"`},
		{"page token of namespaces without limit", "GET", "/api/v1/namespaces?pageToken=eyJvZmZzZXQiOjB9", "", 400, 3, `limit must be set when offset or pageToken is set`},
		{"page token of rollouts without limit", "GET", n + "/flags/b/rollouts?pageToken=eyJvZmZzZXQiOjB9", "", 400, 3, `limit must be set when offset or pageToken is set`},
		{"negative limit", "GET", n + "/flags?limit=-1", "", 400, 3, `invalid field limit: must be greater than or equal to '0'`},
		{"boolean flag as variant", "POST", "/evaluate/v1/variant", `{"flagKey":"b"}`, 400, 3, `flag type BOOLEAN_FLAG_TYPE invalid`},
		{"variant flag as boolean", "POST", "/evaluate/v1/boolean", `{"flagKey":"f"}`, 400, 3, `flag type VARIANT_FLAG_TYPE invalid`},
		{"legacy batch of mixed namespaces", "POST", "/api/v1/batch-evaluate", `{"requests":[{"flagKey":"f","namespaceKey":"x"}]}`, 400, 3, `invalid field namespace_key: must be the same for all requests if specified`},
		{"protected namespace", "DELETE", n, "", 400, 3, `namespace "default" is protected`},
		{"empty key", "POST", n + "/flags", `{}`, 400, 3, `invalid field key: must not be empty`},
		{"bad key", "POST", n + "/flags", `{"key":"a.b","name":"A"}`, 400, 3, `invalid field key: contains invalid characters`},
		{"empty name", "POST", n + "/flags", `{"key":"a"}`, 400, 3, `invalid field name: must not be empty`},
		{"attachment that is not JSON", "POST", n + "/flags/f/variants", `{"key":"k","attachment":"{"}`, 400, 3, `invalid field attachment: must be a json string`},
		{"rollout rank taken", "POST", n + "/flags/b/rollouts", `{"rank":1,"threshold":{}}`, 400, 3, `rank number: 1 already exists`},
		{"rollout without a rule", "POST", n + "/flags/b/rollouts", `{"rank":2}`, 400, 3, `rollout rule is missing`},
		{"rollout of another kind", "PUT", n + "/flags/b/rollouts/{t}", `{"segment":{"segmentKey":"s"}}`, 400, 3, `cannot change type of rollout: have "THRESHOLD_ROLLOUT_TYPE" attempted "SEGMENT_ROLLOUT_TYPE"`},
		{"both ways to name a segment", "POST", n + "/flags/f/rules", `{"segmentKey":"s","segmentKeys":["s"],"rank":1}`, 400, 3, `invalid field segmentKey or segmentKeys: only one can be present`},
		{"rank too low", "POST", n + "/flags/f/rules", `{"segmentKey":"s"}`, 400, 3, `invalid field rank: must be greater than 0`},
		{"share too high", "POST", n + "/flags/f/rules/{r}/distributions", `{"variantId":"{v}","rollout":100.5}`, 400, 3, `invalid field rollout: must be less than or equal to '100'`},
		{"delete a distribution without a variant", "DELETE", n + "/flags/f/rules/{r}/distributions/{d}", "", 400, 3, `invalid field variantId: must not be empty`},
		{"constraint of no type", "POST", n + "/segments/s/constraints", `{"property":"p","operator":"eq"}`, 400, 3, `invalid constraint type: "UNKNOWN_COMPARISON_TYPE"`},
		// An enum number without a name is passed through (contract 1.2), and rejected
		// only if it matters. 256 must not be truncated to 0.
		{"unknown flag type", "POST", n + "/flags", `{"key":"k","name":"K","type":256}`, 400, 3, `invalid field type: is not a known value`},
		{"negative match type", "POST", n + "/segments", `{"key":"k","name":"K","matchType":-1}`, 400, 3, `invalid field matchType: is not a known value`},
		{"legacy evaluation without a flag", "POST", "/api/v1/evaluate", `{}`, 400, 3, `invalid field flagKey: must not be empty`},
		{"legacy evaluation without an entity", "POST", "/api/v1/evaluate", `{"flagKey":"f"}`, 400, 3, `invalid field entityId: must not be empty`},
		{"token unknown by id", "GET", "/auth/v1/tokens/x", "", 404, 5, `getting authentication by token: reading authentication: resource not found`},
		{"evaluations of no namespace", "GET", "/internal/v1/analytics/namespaces/n/flags/f", "", 404, 5, `namespace "n" not found`},
		{"bad kind of changes", "GET", n + "/changes?kind=x", "", 400, 3, `invalid field kind: must be namespace, flag, segment, authentication, binding or webhook`},
		{"import without a document", "POST", n + "/import", `{}`, 400, 3, `invalid field document: must not be empty`},
		{"import into another namespace", "POST", n + "/import", `{"document":{"namespace":{"key":"x"}}}`, 400, 3, `document of namespace "x" cannot be imported into namespace "default"`},
		{"import in an unknown mode", "POST", n + "/import", `{"document":{},"mode":256}`, 400, 3, `invalid field mode: is not a known value`},
		{"export of an unknown namespace", "GET", "/api/v1/namespaces/x/export", "", 404, 5, `namespace "x" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do(test.method, test.path, test.body).fails(t, test.status, test.code, test.message)
		})
	}
}

// TestBadInput: bad input gets the contract's error and changes nothing (contract 1.2).
func TestBadInput(t *testing.T) {
	s := newShop(t)
	const flags = "/api/v1/namespaces/default/flags"
	before := s.must("", "GET", "/api/v1/namespaces/default/export", "").body
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	items := strings.TrimSuffix(strings.Repeat("{},", service.MaxBatch+1), ",")
	for _, test := range []struct {
		name, method, path, body string
		status, code             int
		message                  string
	}{
		{"malformed JSON", "POST", flags, `{"key":`, 400, 3, "unexpected EOF"},
		{"not JSON at all", "POST", flags, `key=value`, 400, 3, "invalid character 'k' looking for beginning of value"},
		{"an array", "POST", flags, `[]`, 400, 3, "invalid values for key(s) in json body"},
		{"a boolean as a string", "POST", flags, `{"key":"k","name":"K","enabled":"true"}`, 400, 3, "invalid values for key(s) in json body"},
		{"a fraction as rank", "POST", flags + "/f/rules", `{"segmentKey":"s","rank":1.5}`, 400, 3, "invalid values for key(s) in json body"},
		{"a number in a context", "POST", "/evaluate/v1/variant", `{"flagKey":"f","context":{"a":1}}`, 400, 3, "invalid values for key(s) in json body"},
		{"an object for a list", "POST", "/evaluate/v1/batch", `{"requests":{"0":{}}}`, 400, 3, "invalid values for key(s) in json body"},
		{"deep nesting", "POST", flags, `{"key":"k","name":"K","metadata":` + deep + `}`, 400, 3, "json body is nested too deeply"},
		{"deep nesting in an unknown member", "POST", flags, `{"key":"k","name":"K","x":` + deep + `}`, 400, 3, "json body is nested too deeply"},
		{"invalid UTF-8", "POST", flags, "{\"key\":\"k\",\"name\":\"\xff\"}", 400, 3, "json body is not valid UTF-8"},
		{"an oversized body", "POST", flags, `{"key":"` + strings.Repeat("k", 4<<20) + `"}`, 413, 8, "the request body exceeds 4194304 bytes"},
		{"an oversized import", "POST", "/api/v1/namespaces/default/import", `{"x":"` + strings.Repeat("k", 64<<20) + `"}`, 413, 8, "json body has a value of more than 32 MiB"},
		{"too many batch items", "POST", "/evaluate/v1/batch", `{"requests":[` + items + `]}`, 413, 8, "invalid field requests: must not contain more than 1000 elements"},
		{"too many legacy batch items", "POST", "/api/v1/batch-evaluate", `{"requests":[` + items + `]}`, 413, 8, "invalid field requests: must not contain more than 1000 elements"},
		{"an attachment beyond the limit", "POST", flags + "/f/variants", `{"key":"k","attachment":"\"` + strings.Repeat("k", 1_024_000) + `\""}`, 400, 3, "invalid field attachment: must be less than 1000 KB"},
		{"a key beyond the limit", "POST", flags, `{"key":"` + strings.Repeat("k", 256) + `","name":"K"}`, 400, 3, "invalid field key: must not be longer than 255 characters"},
		{"a query that is malformed", "GET", flags + "?limit=%zz", "", 400, 3, "the query string is malformed"},
		{"a parameter twice", "GET", flags + "?limit=1&limit=2", "", 400, 3, `too many values for field "limit": 1, 2`},
		{"an empty number", "GET", flags + "?limit=", "", 400, 3, `parsing field "limit": strconv.ParseInt: parsing "": invalid syntax`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do(test.method, test.path, test.body).fails(t, test.status, test.code, test.message)
		})
	}
	if after := s.must("", "GET", "/api/v1/namespaces/default/export", "").body; after != before {
		t.Errorf("bad input has changed something:\n%s\n%s", before, after)
	}
}

// TestBodies: bodies of unknown length are read up to the limit.
func TestBodies(t *testing.T) {
	s := newServer(t)
	send := func(body string) reply {
		unknown := io.MultiReader(strings.NewReader(body)) // sent in chunks
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/flags", unknown)
		if err != nil {
			t.Fatal(err)
		}
		return s.send(request)
	}
	large := strings.Repeat(" ", 4<<20)
	if r := send(`{"key":"k","name":"K"}`); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := send(large[22:] + `{"key":"l","name":"L"}`); r.status != 200 {
		t.Errorf("a body of the largest size: %d %s", r.status, r.body)
	}
	send(large+"{}").fails(t, 413, 8, "the request body exceeds 4194304 bytes")
}

// TestHalfBodies: a client that half-closes the connection before the end of its body
// gets an error, although net/http treats it as disconnected.
func TestHalfBodies(t *testing.T) {
	s := newServer(t)
	for _, request := range []string{
		"Content-Length: 100\r\n\r\n{",
		"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
	} {
		sendHalf(t, s, "POST /api/v1/flags HTTP/1.1\r\nHost: x\r\n"+request).
			fails(t, 400, 3, "the request body could not be read to its end")
	}
}

// sendHalf sends the bytes, half-closes the connection and returns the response.
func sendHalf(t *testing.T, s *server, request string) reply {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// TestGoodInput tests what contract 1.2 accepts although it looks malformed.
func TestGoodInput(t *testing.T) {
	s := newShop(t)
	answer := `{"match":true,"segmentKeys":["s"],"reason":"MATCH_EVALUATION_REASON","variantKey":"v","variantAttachment":"{\"a\":1}",` +
		`"requestId":"r","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"f"}`
	for name, body := range map[string]string{
		"snake case, nulls, unknown fields": `{"flag_key":"f","request_id":"r","entity_id":null,"context":null,"environmentKey":"x"}`,
		"camel case wins":                   `{"flag_key":"x","flagKey":"f","requestId":"r"}`,
		"null in a context":                 `{"flagKey":"f","requestId":"r","context":{"a":null}}`,
		"bytes after the value":             `{"flagKey":"f","requestId":"r"} and more`,
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do("POST", "/evaluate/v1/variant?flagKey=x", body, "Content-Type", "text/plain;charset=UTF-8").check(t, 200, answer)
		})
	}
	s.do("POST", "/api/v1/flags", "null").fails(t, 400, 3, "invalid field key: must not be empty")
	s.do("POST", "/api/v1/flags", "").fails(t, 400, 3, "invalid field key: must not be empty")
	s.do("GET", "/api/v1/namespaces?nope=1", "{").check(t, 200, stable(s.do("GET", "/api/v1/namespaces", "").body))
}
