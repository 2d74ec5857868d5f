// Package browser tests the web pages in Chromium, as people use them.
//
// Every page is a row of the table pages. TestPages opens each with and without scripts, in
// light and dark colors, on large and small screens, and checks its accessibility, security
// and size. TestBelowPath, TestInstances, TestFunction and TestFunctionBelowStage open them
// elsewhere, TestOpen without authentication, TestViewer as somebody who may only read, and
// TestHostile with texts that attack them, in all their forms. TestScreenshots takes their
// pictures. What people do on a page is a test of its own, such as TestSignIn.
//
// All tests share one Chromium. Each visitor has cookies and a tab of its own. visitor.Visit
// opens a page and returns what happened in the meantime; visitor.Audit does that several
// times, with and without scripts, in different widths and both themes, and returns what is
// wrong. Visitors press and type by real input: click, fill, choose, reach, and chromedp's key
// events. These and all other actions are run by visitor.Do, visitor.Follow and get. The tests
// of these checks use a sample page instead of guidon.
//
// A prober needs no browser: it sends thousands of forms, and looks at the markup of the
// responses.
package browser
