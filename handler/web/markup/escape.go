package markup

// escapes are the characters with a meaning in markup, also in attributes with quotes of either
// kind.
var escapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;"}

// appendEscaped appends the text so that it shows as it is.
func appendEscaped(to []byte, text string) []byte {
	written := 0
	for i := range len(text) {
		if escape := escapes[text[i]]; escape != "" {
			to = append(append(to, text[written:i]...), escape...)
			written = i + 1
		}
	}
	return append(to, text[written:]...)
}
