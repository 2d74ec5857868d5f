package codec

// What the tests hold the quick ways against, and whether they are taken.
var (
	UnmarshalGeneral = unmarshalGeneral
	UnmarshalQuick   = unmarshalQuick
	AppendGeneral    = appendGeneral
	AppendQuick      = appendQuick
	ContextGeneral   = contextGeneral
	ContextQuick     = contextQuick
)
