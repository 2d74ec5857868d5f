package part

// icons are the drawings inside of 16 by 16 units, with lines of 1.5.
var icons = map[string]string{ // #nosec G101 -- no credentials
	"expand":     `<path d="m5 6 3-3 3 3M5 10l3 3 3-3"/>`,
	"add":        `<path d="M8 3v10M3 8h10"/>`,
	"search":     `<circle cx="7" cy="7" r="4.75"/><path d="m10.5 10.5 3.5 3.5"/>`,
	"flag":       `<path d="M3.5 1.75v12.5M3.5 2.75h9.75L11 5.75l2.25 3H3.5"/>`,
	"segment":    `<circle cx="6" cy="8" r="4.25"/><circle cx="10" cy="8" r="4.25"/>`,
	"playground": `<path d="M6.25 1.75v4L2.5 12.6a1.1 1.1 0 0 0 1 1.65h9a1.1 1.1 0 0 0 1-1.65L9.75 5.75v-4M5.25 1.75h5.5M4.5 9.75h7"/>`,
	"history":    `<path d="M2.25 8a5.75 5.75 0 1 0 1.9-4.27L2.25 5.5M2.25 2.25V5.5H5.5M8 5v3.25l2.25 1.5"/>`,
	"unused":     `<path d="M3.75 1.75h8.5M3.75 14.25h8.5M4.75 1.75v2.5L8 8l3.25-3.75v-2.5M4.75 14.25v-2.5L8 8l3.25 3.75v2.5"/>`,
	"settings":   `<path d="M2 4.5h6.25M12.25 4.5H14M2 11.5h1.75M7.75 11.5H14"/><circle cx="10.25" cy="4.5" r="2"/><circle cx="5.75" cy="11.5" r="2"/>`,
	"export":     `<path d="M8 10.5V2M4.5 5.25 8 1.75l3.5 3.5M2.25 10.75v2a1.5 1.5 0 0 0 1.5 1.5h8.5a1.5 1.5 0 0 0 1.5-1.5v-2"/>`,
	"import":     `<path d="M8 1.75v8.5M4.5 7 8 10.5 11.5 7M2.25 10.75v2a1.5 1.5 0 0 0 1.5 1.5h8.5a1.5 1.5 0 0 0 1.5-1.5v-2"/>`,
	"open":       `<path d="m4 6 4 4 4-4"/>`,
	"close":      `<path d="m4 10 4-4 4 4"/>`,
	"up":         `<path d="M8 13V3.5M4 7.25 8 3.25l4 4"/>`,
	"down":       `<path d="M8 3v9.5M4 8.75l4 4 4-4"/>`,
	"token":      `<path d="M3 6.25h10v7H3zM8 3v3.25M5.75 9.25h.01M10.25 9.25h.01"/>`,
	"compare":    `<path d="M1.75 5h11M10 2.25 12.75 5 10 7.75M14.25 11h-11M6 8.25 3.25 11 6 13.75"/>`,
	"copy":       `<rect x="5.25" y="5.25" width="8.5" height="8.5" rx="1.5"/><path d="M10.75 5.25v-1.5a1.5 1.5 0 0 0-1.5-1.5h-5.5a1.5 1.5 0 0 0-1.5 1.5v5.5a1.5 1.5 0 0 0 1.5 1.5h1.5"/>`,
	"person":     `<circle cx="8" cy="5.25" r="2.75"/><path d="M2.75 14a5.25 5.25 0 0 1 10.5 0"/>`,
	"more":       `<path d="M3.25 8h.01M8 8h.01M12.75 8h.01" stroke-width="2.25"/>`,
	"edit":       `<path d="m2.25 13.75.75-3.25 7.9-7.9a1.3 1.3 0 0 1 1.85 0l.65.65a1.3 1.3 0 0 1 0 1.85L5.5 13zM9.5 4l2.5 2.5"/>`,
	"delete":     `<path d="M2.5 4h11M6 4V2.25h4V4M4 4l.6 9.1a1.2 1.2 0 0 0 1.2 1.15h4.4a1.2 1.2 0 0 0 1.2-1.15L12 4M6.75 7v4.25M9.25 7v4.25"/>`,
	"key":        `<circle cx="5.25" cy="10.75" r="3"/><path d="m7.5 8.5 5.75-5.75M11 5l2 2M9 7l1.25 1.25"/>`,
	"menu":       `<path d="M2.5 4.25h11M2.5 8h11M2.5 11.75h11"/>`,
	"lock":       `<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2"/>`,
	"undo":       `<path d="M5.5 2.75 2.5 5.75l3 3M2.75 5.75h6.5a4 4 0 0 1 0 8H6"/>`,
	"warning":    `<path d="M8 2.25 14.25 13.5H1.75zM8 6.5v3.25M8 11.75h.01"/>`,
	"remove":     `<path d="m4 4 8 8M12 4l-8 8"/>`,
	"done":       `<path d="m3.25 8.5 3 3 6.5-7"/>`,
	"grip":       `<path d="M6 3.75h.01M10 3.75h.01M6 8h.01M10 8h.01M6 12.25h.01M10 12.25h.01" stroke-width="2"/>`,
	"star":       `<path d="m8 1.75 1.93 3.9 4.32.63-3.13 3.04.74 4.3L8 11.6l-3.86 2.02.74-4.3-3.13-3.04 4.32-.63z"/>`,
	"view":       `<path d="M1.5 8S3.75 3.5 8 3.5 14.5 8 14.5 8 12.25 12.5 8 12.5 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="2"/>`,
	"dice":       `<rect x="2.25" y="2.25" width="11.5" height="11.5" rx="2.5"/><path d="M5.5 5.5h.01M10.5 5.5h.01M8 8h.01M5.5 10.5h.01M10.5 10.5h.01" stroke-width="1.9"/>`,
	"info":       `<circle cx="8" cy="8" r="6.25"/><path d="M8 7.25v4M8 4.85h.01"/>`,
	"light":      `<circle cx="8" cy="8" r="3"/><path d="M8 1.25v1.5M8 13.25v1.5M1.25 8h1.5M13.25 8h1.5M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1"/>`,
	"dark":       `<path d="M13.75 9.5A6 6 0 1 1 6.5 2.25a4.75 4.75 0 0 0 7.25 7.25z"/>`,
}

// drawing returns the drawing of the icon. It panics if no icon has the name.
func drawing(name string) string {
	d, ok := icons[name]
	if !ok {
		panic("part: there is no icon " + name)
	}
	return d
}
