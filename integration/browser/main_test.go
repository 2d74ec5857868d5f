// Package browser tests the web pages in Chromium, as people use them.
//
// Every page is a row of the table pages. TestPages opens each with and without scripts, in
// light and dark colors, on large and small screens, and checks its accessibility, security
// and size; see package browsertest. TestBelowPath, TestInstances, TestFunction and
// TestFunctionBelowStage open them elsewhere, TestOpen without authentication, TestViewer as
// somebody who may only read, and TestHostile with texts that attack them, in all their forms.
// TestScreenshots takes their pictures. What people do on a page is a test of its own, such as
// TestSignIn.
package browser

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
