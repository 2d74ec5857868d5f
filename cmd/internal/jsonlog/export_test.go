package jsonlog

// MaxEager is maxEager for tests.
const MaxEager = maxEager
