package main

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// grpcScenario is a kind of work.
type grpcScenario struct {
	name    string
	target  float64 // minimum ratio to the floor's requests per second
	method  string
	request proto.Message
	answer  proto.Message
}

const evaluationService = "/flipt.evaluation.EvaluationService/"

var grpcScenarios = []grpcScenario{
	{"boolean", 0.80, evaluationService + "Boolean", evaluationOf(0), &evaluation.BooleanEvaluationResponse{}},
	{"variant", 0.80, evaluationService + "Variant", evaluationOf(1), &evaluation.VariantEvaluationResponse{}},
	{"batch of 50", 0.50, evaluationService + "Batch", batchOf(50), &evaluation.BatchEvaluationResponse{}},
}

// evaluationOf returns the request for a flag, with a context that matches every
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

// write checks that the request succeeds, which h2load does not, and writes it to a file
// for h2load, with the prefix of gRPC.
func (sc grpcScenario) write(ctx context.Context, dir string, guidon *grpcContender) (path string, err error) {
	if err := sc.check(ctx, guidon); err != nil {
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

func (sc grpcScenario) check(ctx context.Context, c *grpcContender) (err error) {
	conn, err := grpc.NewClient("passthrough:///"+c.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), patience)
	defer cancel()
	return conn.Invoke(ctx, sc.method, sc.request, sc.answer)
}
