package page

import (
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// OwnStateOf returns the own state of a flag, which is its state if that is nil.
func OwnStateOf(state guidonv1.FlagState, own *guidonv1.FlagState) part.State {
	if own != nil {
		state = *own
	}
	return StateOf(state)
}

// StateOf returns the state of a flag as its sign shows it.
func StateOf(s guidonv1.FlagState) part.State {
	switch s {
	case guidonv1.FlagState_ON_FLAG_STATE:
		return part.On
	case guidonv1.FlagState_PARTLY_FLAG_STATE:
		return part.Partly
	}
	return part.Off
}
