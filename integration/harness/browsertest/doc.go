// Package browsertest opens web pages in Chromium as their visitors do, and checks what every
// page must have. It knows nothing of guidon but where its Node.js package is.
//
// A package that uses it has this TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
//
// All tests of a package share one Chromium. Each [Visitor] has cookies and a tab of its
// own. [Visitor.Visit] opens a page and returns what happened in the meantime; [Visitor.Audit]
// does that several times, with and without scripts, in different widths and both themes,
// and returns what is wrong. Visitors press and type by real input: [Click], [Fill], [Choose],
// [Reach], and chromedp's key events. These and all other actions are run by [Visitor.Do],
// [Visitor.Follow] and [Get].
//
// A [Prober] needs no browser: it sends thousands of forms, and looks at the markup of the
// responses.
package browsertest
