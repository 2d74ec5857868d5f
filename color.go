package guidon

import "slices"

// Color is the name of a color by which pages distinguish namespaces. The empty one means
// no color. Each name stands for a pair of shades, for light and for dark pages.
type Color string

// The colors.
const (
	Blue   Color = "blue"
	Amber  Color = "amber"
	Teal   Color = "teal"
	Pink   Color = "pink"
	Violet Color = "violet"
	Green  Color = "green"
	Red    Color = "red"
	Slate  Color = "slate"
)

// Colors returns all colors, in the order in which a page offers them.
func Colors() []Color { return []Color{Blue, Amber, Teal, Pink, Violet, Green, Red, Slate} }

// Known reports whether the color is one of the constants, or empty.
func (c Color) Known() bool { return c == "" || slices.Contains(Colors(), c) }
