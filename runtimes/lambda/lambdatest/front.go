package lambdatest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Front simulates an AWS service in front of a function. It converts requests into
// events, and the payloads that the function returns into responses. The zero value is
// not usable; use one of the functions that return a Front.
type Front struct {
	Name  string
	event func(r *http.Request, body string, base64 bool) any
	parse func(payload []byte) (response, error)
	// failed is the status for a function that failed.
	failed int
}

// HTTPAPI returns an API Gateway HTTP API with payload format 2.0 and the stage. The
// paths of events begin with the stage unless it is "$default".
func HTTPAPI(stage string) Front {
	return Front{
		Name:   "HTTP API, stage " + stage,
		failed: http.StatusInternalServerError,
		parse:  readResponse,
		event: func(r *http.Request, body string, base64 bool) any {
			path := r.URL.Path // decoded
			if stage != "$default" {
				path = "/" + stage + path
			}
			return version2(r, path, stage, "api.execute-api.eu-west-1.amazonaws.com", body, base64)
		},
	}
}

// FunctionURL returns a function URL. It supports buffered and streamed responses.
func FunctionURL() Front {
	return Front{
		Name:   "function URL",
		failed: http.StatusBadGateway,
		parse:  readResponse,
		event: func(r *http.Request, body string, base64 bool) any {
			return version2(r, r.URL.EscapedPath(), "$default", "id.lambda-url.eu-west-1.on.aws", body, base64)
		},
	}
}

// RESTAPI returns an API Gateway REST API.
func RESTAPI() Front {
	return Front{
		Name:   "REST API",
		failed: http.StatusBadGateway,
		parse:  readResponse,
		event: func(r *http.Request, body string, base64 bool) any {
			headers := forwarded(r)
			return map[string]any{
				"resource": "/{proxy+}", "path": r.URL.EscapedPath(), "httpMethod": r.Method,
				"headers": last(headers), "multiValueHeaders": headers,
				"queryStringParameters": orNull(last(r.URL.Query())), "multiValueQueryStringParameters": orNull(r.URL.Query()),
				"pathParameters": map[string]string{"proxy": strings.TrimPrefix(r.URL.Path, "/")}, "stageVariables": nil,
				"requestContext": map[string]any{
					"accountId": "000000000000", "apiId": "api", "resourceId": "r", "resourcePath": "/{proxy+}", "stage": "prod",
					"domainName": "api.execute-api.eu-west-1.amazonaws.com", "domainPrefix": "api", "httpMethod": r.Method,
					"path": "/prod" + r.URL.EscapedPath(), "protocol": r.Proto, "requestId": requestID,
					"identity": map[string]any{"sourceIp": peer(r), "userAgent": r.UserAgent(), "user": nil},
				},
				"body": orNull(body), "isBase64Encoded": base64,
			}
		},
	}
}

// LoadBalancer returns an Application Load Balancer. multiValue is the attribute
// "multi-value headers" of its target group.
func LoadBalancer(multiValue bool) Front {
	f := Front{Name: "load balancer", failed: http.StatusBadGateway}
	if multiValue {
		f.Name += ", multi-value headers"
	}
	f.parse = func(payload []byte) (response, error) {
		a, err := readResponse(payload)
		switch {
		case err != nil:
		case a.StatusDescription == "":
			err = fmt.Errorf("no statusDescription in %s", payload)
		case multiValue && a.Headers != nil, !multiValue && a.MultiValueHeaders != nil:
			err = fmt.Errorf("headers do not match the multi-value setting of the target group: %s", payload)
		}
		return a, err
	}
	f.event = func(r *http.Request, body string, base64 bool) any {
		headers := lower(forwarded(r))
		event := map[string]any{
			"requestContext": map[string]any{"elb": map[string]any{
				"targetGroupArn": "arn:aws:elasticloadbalancing:eu-west-1:000000000000:targetgroup/t/0",
			}},
			"httpMethod": r.Method, "path": r.URL.EscapedPath(), "body": body, "isBase64Encoded": base64,
		}
		query := rawParameters(r.URL.RawQuery)
		if multiValue {
			event["multiValueHeaders"], event["multiValueQueryStringParameters"] = headers, query
		} else {
			event["headers"], event["queryStringParameters"] = last(headers), last(query)
		}
		return event
	}
	return f
}

// Fronts returns all kinds of fronts.
func Fronts() []Front {
	return []Front{HTTPAPI("$default"), HTTPAPI("prod"), FunctionURL(), RESTAPI(), LoadBalancer(false), LoadBalancer(true)}
}

const requestID = "JKJaXmPLvHcESHA=" // in the format of API Gateway

// Event returns the event of the request. It reads the body.
func (f Front) Event(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	text, encoded := string(body), !utf8.Valid(body)
	if encoded {
		text = base64.StdEncoding.EncodeToString(body)
	}
	return json.Marshal(f.event(r, text, encoded))
}

// version2 returns an event of payload format 2.0.
func version2(r *http.Request, path, stage, domain, body string, base64 bool) any {
	headers := map[string]string{}
	for name, values := range lower(forwarded(r)) {
		headers[name] = strings.Join(values, ",")
	}
	query := map[string]string{}
	for name, values := range r.URL.Query() {
		query[name] = strings.Join(values, ",")
	}
	event := map[string]any{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": r.URL.RawQuery, "headers": headers,
		"isBase64Encoded": base64,
		"requestContext": map[string]any{
			"accountId": "000000000000", "apiId": "api", "stage": stage, "routeKey": "$default", "domainName": domain,
			"domainPrefix": "api", "requestId": requestID, "time": "21/Nov/2026:07:00:00 +0000", "timeEpoch": 1795244400000,
			"http": map[string]any{"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": peer(r), "userAgent": r.UserAgent()},
		},
	}
	if len(query) > 0 {
		event["queryStringParameters"] = query
	}
	if body != "" {
		event["body"] = body
	}
	if cookies := r.Header["Cookie"]; len(cookies) > 0 {
		delete(headers, "cookie")
		event["cookies"] = strings.Split(strings.Join(cookies, "; "), "; ")
	}
	return event
}

// forwarded returns the headers of the request and those that every front adds.
func forwarded(r *http.Request) http.Header {
	headers := r.Header.Clone()
	headers["X-Forwarded-For"] = []string{strings.Join(append(headers["X-Forwarded-For"], peer(r)), ", ")}
	headers.Set("X-Forwarded-Proto", "https")
	headers.Set("X-Forwarded-Port", "443")
	headers.Set("X-Amzn-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700")
	headers.Set("Host", r.Host)
	return headers
}

func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func lower(headers http.Header) map[string][]string {
	lowered := make(map[string][]string, len(headers))
	for name, values := range headers {
		lowered[strings.ToLower(name)] = values
	}
	return lowered
}

// last returns the last value of each list, as fronts do that support only one value.
func last[M ~map[string][]string](lists M) map[string]string {
	single := make(map[string]string, len(lists))
	for name, values := range lists {
		if len(values) > 0 {
			single[name] = values[len(values)-1]
		}
	}
	return single
}

// orNull returns nil if the value is empty.
func orNull(value any) any {
	switch value := value.(type) {
	case string:
		if value == "" {
			return nil
		}
	case url.Values:
		if len(value) == 0 {
			return nil
		}
	case map[string]string:
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// rawParameters returns the parameters without unescaping them.
func rawParameters(query string) map[string][]string {
	parameters := map[string][]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			parameters[name] = append(parameters[name], value)
		}
	}
	return parameters
}

// response is the payload that a function returns to a front.
type response struct {
	StatusCode        int                 `json:"statusCode"`
	StatusDescription string              `json:"statusDescription"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Cookies           []string            `json:"cookies"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func readResponse(payload []byte) (response, error) {
	var a response
	if err := json.Unmarshal(payload, &a); err != nil {
		return a, fmt.Errorf("%w in %s", err, payload)
	}
	if a.StatusCode < 200 {
		return a, fmt.Errorf("no status in %s", payload)
	}
	return a, nil
}

// WriteResponse writes the response in the payload. It returns an error if the front
// would not accept the payload.
func (f Front) WriteResponse(w http.ResponseWriter, payload []byte) error {
	a, err := f.parse(payload)
	if err != nil {
		return err
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(a.Body); err != nil {
			return err
		}
	}
	header := w.Header()
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		header.Add(name, a.Headers[name]) // names may differ only in case
	}
	for name, values := range a.MultiValueHeaders {
		header[textproto.CanonicalMIMEHeaderKey(name)] = values
	}
	if len(a.Cookies) > 0 {
		header["Set-Cookie"] = a.Cookies
	}
	w.WriteHeader(a.StatusCode)
	_, err = w.Write(body)
	if err == http.ErrBodyNotAllowed && len(body) == 0 {
		err = nil
	}
	return err
}
