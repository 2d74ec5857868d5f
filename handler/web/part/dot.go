package part

// dots are the colors of namespaces that the stylesheet has.
var dots = map[string]bool{"blue": true, "amber": true, "teal": true, "pink": true, "violet": true, "green": true, "red": true, "slate": true}

// dotColor returns the class of the color of a namespace, or "".
func dotColor(color string) string {
	if dots[color] {
		return color
	}
	return ""
}
