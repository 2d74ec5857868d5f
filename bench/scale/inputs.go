package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

//go:embed inputs.json
var inputsFile []byte

// figure is a measurement and its source.
type figure struct {
	CPU    float64 `json:"cpu_us"` // CPU time, in µs
	Factor float64 `json:"factor"` // of another CPU time
	From   string  `json:"from"`
}

// inputs are the measurements and assumptions for the calculation.
type inputs struct {
	Measured struct {
		Date            string `json:"date"`
		Machine         string `json:"machine"`
		Single          figure `json:"single"`
		Strict          figure `json:"strict"`
		StrictRedis     figure `json:"strict_redis"`
		Log             figure `json:"log"`
		Batch           figure `json:"batch_50"`
		Bulk            figure `json:"bulk_50"`
		NotModified     figure `json:"not_modified"`
		QueryPostgres   figure `json:"query_postgres"`
		WriteInstance   figure `json:"write_instance"`
		WritePostgres   figure `json:"write_postgres"`
		RedisPerRequest figure `json:"redis_per_request"`
	} `json:"measured"`
	Assumed struct {
		InstanceCores        float64 `json:"instance_cores"`
		Utilization          float64 `json:"utilization"`     // of those cores, at the peak
		LeastInstances       int     `json:"least_instances"` // in a region
		MaxAge               float64 `json:"max_age_seconds"` // in the mode bounded
		CoreHour             float64 `json:"core_hour_dollars"`
		SnapshotBytes        float64 `json:"snapshot_bytes"`         // of a client-side snapshot, compressed
		PollSeconds          float64 `json:"poll_seconds"`           // between two polls of a client
		EvaluationsPerClient float64 `json:"evaluations_per_client"` // a second, with client-side evaluation
	} `json:"assumed"`
}

// readInputs returns the embedded inputs.
func readInputs() (in inputs, err error) {
	decoder := json.NewDecoder(bytes.NewReader(inputsFile))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&in)
	return in, err
}
