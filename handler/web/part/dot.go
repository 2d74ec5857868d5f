package part

// dots are the colors of namespaces that the stylesheet has.
var dots = map[string]bool{
	"blue": true, "amber": true, "teal": true, "pink": true, "violet": true, "green": true, "red": true, "slate": true,
}

// colored returns the class with that of the color of a namespace, if it has a known one.
func colored(class, color string) string {
	if dots[color] {
		return class + " " + color
	}
	return class
}
