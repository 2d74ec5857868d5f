package part

import "strconv"

// State is whether a flag is on.
type State int

// The states. A boolean flag is partly on if some get true and some false.
const (
	Off State = iota
	On
	Partly
)

// String returns the state in words.
func (s State) String() string { return [...]string{"Off", "On", "Partly on"}[s] }

// Switch returns the action of the switch of a flag in that state, in words.
func (s State) Switch() string { return [...]string{"Turn on", "Turn off", "Turn off"}[s] }

func (s State) class() string { return [...]string{"off", "on", "mixed"}[s] }

// colors is how many colours variants have. Further ones share the last.
const colors = 8

// VariantColor returns the class with the colour of the variant at the index of its flag,
// or of none if the index is negative.
func VariantColor(index int) string {
	if index < 0 {
		return "c-off"
	}
	return "v" + strconv.Itoa(min(index, colors-1)+1)
}

// avatarColor returns the colour for a name: always the same.
func avatarColor(name string) string {
	sum := 0
	for _, r := range name {
		sum = (sum*31 + int(r)) % 1_000_003
	}
	return "v" + strconv.Itoa(sum%(colors-1)+1)
}
