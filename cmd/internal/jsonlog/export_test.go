package jsonlog

// MaxEager is for tests.
const MaxEager = maxEager
