// Package diagnostics shows the state of the process: health, metrics, profiler, build
// and configuration, and the description of the API.
package diagnostics
