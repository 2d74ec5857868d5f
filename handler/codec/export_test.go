package codec

// The general and the fast paths, for tests that compare them.
var (
	UnmarshalGeneral = unmarshalGeneral
	UnmarshalQuick   = unmarshalQuick
	AppendGeneral    = appendGeneral
	AppendQuick      = appendQuick
	ContextGeneral   = contextGeneral
	ContextQuick     = contextQuick
)
