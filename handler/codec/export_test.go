package codec

import "github.com/guidonhq/guidon/handler/codec/quick"

// The general and the fast paths, for tests that compare them.
var (
	UnmarshalGeneral = unmarshalGeneral
	UnmarshalQuick   = quick.Unmarshal
	AppendGeneral    = appendGeneral
	AppendQuick      = quick.Append
	ContextGeneral   = contextGeneral
	ContextQuick     = quick.Context
)
