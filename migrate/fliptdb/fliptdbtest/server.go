package fliptdbtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// Handler returns the part of Flipt's HTTP API that lists and evaluates flags, over the
// rows. It requires [Token]. The forms are those of contract 3 and 7, among them a single
// segment instead of a list of one.
func (d *Data) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, "namespaces", d.Namespaces, func(n Namespace) object { return object{"key": n.Key, "name": n.Name} })
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/flags", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, "flags", in(r, d.Flags, func(f Flag) string { return f.Namespace }), wireFlag)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/segments", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, "segments", in(r, d.Segments, func(s Segment) string { return s.Namespace }), d.wireSegment)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/flags/{flag}/rules", func(w http.ResponseWriter, r *http.Request) {
		rules := in(r, d.Rules, func(rule Rule) string { return rule.Namespace })
		rules = slices.DeleteFunc(rules, func(rule Rule) bool { return rule.Flag != r.PathValue("flag") })
		slices.SortFunc(rules, func(a, b Rule) int { return a.Rank - b.Rank })
		page(w, r, "rules", rules, d.wireRule)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/flags/{flag}/rollouts", func(w http.ResponseWriter, r *http.Request) {
		rollouts := in(r, d.Rollouts, func(rollout Rollout) string { return rollout.Namespace })
		rollouts = slices.DeleteFunc(rollouts, func(rollout Rollout) bool { return rollout.Flag != r.PathValue("flag") })
		slices.SortFunc(rollouts, func(a, b Rollout) int { return a.Rank - b.Rank })
		page(w, r, "rules", rollouts, d.wireRollout)
	})
	mux.HandleFunc("POST /evaluate/v1/batch", d.batch)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Token {
			w.WriteHeader(http.StatusUnauthorized)
			write(w, object{"code": 16, "message": "request was not authenticated", "details": []any{}})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type object map[string]any

func write(w http.ResponseWriter, value any) {
	_ = json.NewEncoder(w).Encode(value) // the client has gone
}

// in returns the rows of the namespace in the path.
func in[T any](r *http.Request, rows []T, namespace func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return namespace(row) != r.PathValue("namespace") })
}

// page writes one page. Its token is the number of rows before it, as in Flipt.
func page[T any](w http.ResponseWriter, r *http.Request, name string, rows []T, wire func(T) object) {
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil {
		limit = 25
	}
	start, _ := strconv.Atoi(r.FormValue("pageToken"))
	end, next := start+limit, ""
	if end < len(rows) {
		next = strconv.Itoa(end)
	}
	list := []object{}
	for _, row := range rows[min(start, len(rows)):min(end, len(rows))] {
		list = append(list, wire(row))
	}
	write(w, object{name: list, "nextPageToken": next, "totalCount": len(rows)})
}

func wireFlag(f Flag) object {
	return object{"key": f.Key, "name": f.Name, "enabled": f.Enabled, "type": []string{"VARIANT_FLAG_TYPE", "BOOLEAN_FLAG_TYPE"}[f.Type]}
}

func (d *Data) wireSegment(s Segment) object {
	kinds := []string{"UNKNOWN", "STRING", "NUMBER", "BOOLEAN", "DATETIME", "ENTITY_ID"}
	constraints := []object{}
	for _, c := range d.Constraints {
		if c.Namespace == s.Namespace && c.Segment == s.Key {
			constraints = append(constraints,
				object{"id": c.ID, "type": kinds[c.Type] + "_COMPARISON_TYPE", "property": c.Property, "operator": c.Operator, "value": c.Value})
		}
	}
	return object{"key": s.Key, "name": s.Name, "matchType": []string{"ALL_MATCH_TYPE", "ANY_MATCH_TYPE"}[s.MatchType],
		"constraints": constraints}
}

// wireSegments adds the segments to a rule or rollout.
func wireSegments(o object, references []Reference, owner string, operator int) object {
	keys := segmentsOf(references, owner)
	if len(keys) == 1 {
		o["segmentKey"], keys = keys[0], []string{}
	}
	o["segmentKeys"], o["segmentOperator"] = keys, []string{"OR_SEGMENT_OPERATOR", "AND_SEGMENT_OPERATOR"}[operator]
	return o
}

func (d *Data) wireRule(r Rule) object {
	distributions := []object{}
	for _, share := range d.Distributions {
		if share.Rule == r.ID {
			distributions = append(distributions, object{"id": share.ID, "variantId": share.Variant, "rollout": share.Rollout})
		}
	}
	return wireSegments(object{"id": r.ID, "flagKey": r.Flag, "rank": r.Rank, "distributions": distributions}, d.RuleSegments, r.ID,
		r.Operator)
}

func (d *Data) wireRollout(r Rollout) object {
	o := object{"id": r.ID, "flagKey": r.Flag, "rank": r.Rank}
	for _, t := range d.Thresholds {
		if t.Rollout == r.ID {
			o["type"], o["threshold"] = "THRESHOLD_ROLLOUT_TYPE", object{"percentage": t.Percentage, "value": t.Value}
		}
	}
	for _, s := range d.RolloutSegments {
		if s.Rollout == r.ID {
			o["type"], o["segment"] = "SEGMENT_ROLLOUT_TYPE", wireSegments(object{"value": s.Value}, d.RolloutRefs, s.ID, s.Operator)
		}
	}
	return o
}

// batch evaluates as [Data.Evaluate] does.
func (d *Data) batch(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Requests []struct {
			NamespaceKey, FlagKey, EntityID string
			Context                         map[string]string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		write(w, object{"code": 3, "message": err.Error(), "details": []any{}})
		return
	}
	responses := []object{}
	for _, q := range body.Requests {
		at := slices.IndexFunc(d.Flags, func(f Flag) bool { return f.Namespace == q.NamespaceKey && f.Key == q.FlagKey })
		if at < 0 {
			responses = append(responses, object{"type": "ERROR_EVALUATION_RESPONSE_TYPE", "errorResponse": object{
				"flagKey": q.FlagKey, "namespaceKey": q.NamespaceKey, "reason": "NOT_FOUND_ERROR_EVALUATION_REASON",
			}})
			continue
		}
		responses = append(responses, wireResult(d.Flags[at], d.Evaluate(q.NamespaceKey, q.FlagKey, q.EntityID, q.Context)))
	}
	write(w, object{"requestId": "x", "responses": responses, "requestDurationMillis": 0.5})
}

func wireResult(f Flag, result Result) object {
	segments := result.Segments
	if segments == nil {
		segments = []string{}
	}
	common := object{"flagKey": f.Key, "reason": result.Reason + "_EVALUATION_REASON", "segmentKeys": segments, "requestId": "x",
		"requestDurationMillis": 0.1, "timestamp": "2026-01-02T03:04:05.678Z"}
	if f.Type == 1 {
		common["enabled"] = result.Match
		return object{"type": "BOOLEAN_EVALUATION_RESPONSE_TYPE", "booleanResponse": common}
	}
	common["match"], common["variantKey"], common["variantAttachment"] = result.Match, result.Variant, result.Attachment
	return object{"type": "VARIANT_EVALUATION_RESPONSE_TYPE", "variantResponse": common}
}
