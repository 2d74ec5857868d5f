package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// scenario is a kind of work.
type scenario struct {
	name    string
	target  float64 // of the floor's requests per second, at least
	method  string
	request proto.Message
	answer  proto.Message
}

const service = "/flipt.evaluation.EvaluationService/"

var scenarios = []scenario{
	{"boolean", 0.80, service + "Boolean", evaluationOf(0), &evaluation.BooleanEvaluationResponse{}},
	{"variant", 0.80, service + "Variant", evaluationOf(1), &evaluation.VariantEvaluationResponse{}},
	{"batch of 50", 0.50, service + "Batch", batchOf(50), &evaluation.BatchEvaluationResponse{}},
}

// evaluationOf returns the request for a flag, whose context meets every
// constraint.
func evaluationOf(i int) *evaluation.EvaluationRequest {
	return &evaluation.EvaluationRequest{
		NamespaceKey: "default", FlagKey: flagKey(i), EntityId: "user-0000",
		Context: map[string]string{"country": "US", "age": "18", "beta": "true"},
	}
}

func batchOf(n int) *evaluation.BatchEvaluationRequest {
	items := make([]*evaluation.EvaluationRequest, n)
	for i := range items {
		items[i] = evaluationOf(i)
	}
	return &evaluation.BatchEvaluationRequest{Requests: items}
}

// write checks that the service answers the request, which h2load does not look
// at, and writes what h2load is to send: the message with the prefix of gRPC.
func (sc scenario) write(ctx context.Context, dir string, guidon *contender) (path string, err error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), patience)
	defer cancel()
	if err := guidon.conn.Invoke(ctx, sc.method, sc.request, sc.answer, grpc.WaitForReady(true)); err != nil {
		return "", err
	}
	message, err := proto.MarshalOptions{Deterministic: true}.Marshal(sc.request)
	if err != nil {
		return "", err
	}
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))) // #nosec G115 -- some kilobytes
	path = filepath.Join(dir, "request")
	return path, os.WriteFile(path, append(frame, message...), 0o600)
}

type object = map[string]any

// flagKey returns the key of a flag: even ones are boolean, odd ones have variants.
func flagKey(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("bool-%05d", i)
	}
	return fmt.Sprintf("var-%05d", i)
}

// document returns n flags for the import call of the service: boolean ones with a
// threshold of 50 %, and ones with a rule on a segment of three constraints and
// two variants, half and half.
func document(n int) object {
	const segments = 10
	flags, list := make([]object, n), make([]object, segments)
	for i := range list {
		list[i] = object{
			"key": segmentKey(i), "name": segmentKey(i), "matchType": "ALL_MATCH_TYPE",
			"constraints": []object{
				{"type": "STRING_COMPARISON_TYPE", "property": "country", "operator": "eq", "value": "US"},
				{"type": "NUMBER_COMPARISON_TYPE", "property": "age", "operator": "gte", "value": "18"},
				{"type": "BOOLEAN_COMPARISON_TYPE", "property": "beta", "operator": "true"},
			},
		}
	}
	for i := range flags {
		flags[i] = object{"key": flagKey(i), "name": flagKey(i)}
		if i%2 == 0 {
			flags[i]["type"] = "BOOLEAN_FLAG_TYPE"
			flags[i]["rollouts"] = []object{{"threshold": object{"percentage": 50, "value": true}}}
			continue
		}
		flags[i]["enabled"] = true
		flags[i]["variants"] = []object{{"key": "a"}, {"key": "b"}}
		flags[i]["rules"] = []object{{
			"segmentKeys":   []string{segmentKey(i % segments)},
			"distributions": []object{{"variant": "a", "rollout": 50}, {"variant": "b", "rollout": 50}},
		}}
	}
	return object{"flags": flags, "segments": list}
}

func segmentKey(i int) string { return fmt.Sprintf("segment-%d", i) }
