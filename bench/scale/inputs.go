package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

//go:embed inputs.json
var inputsFile []byte

// figure is one that was measured, and by what.
type figure struct {
	CPU    float64 `json:"cpu_us"` // CPU time, in µs
	Factor float64 `json:"factor"` // of something else's CPU time
	From   string  `json:"from"`
}

// inputs are what everything is calculated from.
type inputs struct {
	Measured struct {
		Date             string `json:"date"`
		Machine          string `json:"machine"`
		Single           figure `json:"single"`
		Strict           figure `json:"strict"`
		StrictRedis      figure `json:"strict_redis"`
		Log              figure `json:"log"`
		Batch            figure `json:"batch_50"`
		Bulk             figure `json:"bulk_50"`
		NotModified      figure `json:"not_modified"`
		QuestionPostgres figure `json:"question_postgres"`
		WriteInstance    figure `json:"write_instance"`
		WritePostgres    figure `json:"write_postgres"`
		RedisPerRequest  figure `json:"redis_per_request"`
	} `json:"measured"`
	Assumed struct {
		InstanceCores        float64 `json:"instance_cores"`
		Utilization          float64 `json:"utilization"`     // of those cores, at the peak
		LeastInstances       int     `json:"least_instances"` // in a region
		MaxAge               float64 `json:"max_age_seconds"` // of the mode bounded
		CoreHour             float64 `json:"core_hour_dollars"`
		SnapshotBytes        float64 `json:"snapshot_bytes"`         // of a client-side snapshot, compressed
		PollSeconds          float64 `json:"poll_seconds"`           // between two polls of a client
		EvaluationsPerClient float64 `json:"evaluations_per_client"` // a second, of those that evaluate by themselves
	} `json:"assumed"`
}

// readInputs returns the inputs of the program.
func readInputs() (in inputs, err error) {
	decoder := json.NewDecoder(bytes.NewReader(inputsFile))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&in)
	return in, err
}
