package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// record collects the events of a tab since its page was opened.
type record struct {
	tab  context.Context
	main cdp.FrameID

	mu       sync.Mutex
	page     *openedPage
	anew     bool                      // messages are still those of the page before
	document network.RequestID         // of the page
	loader   string                    // of the page, when its response is there
	open     map[network.RequestID]int // indexes of Requests
	quiet    chan struct{}             // receives when a request has ended
}

func newRecord(v *visitor) *record {
	r := &record{
		tab: v.ctx, main: cdp.FrameID(chromedp.FromContext(v.ctx).Target.TargetID),
		quiet: make(chan struct{}, 1),
	}
	r.begin(false)
	return r
}

// begin forgets everything: another page will be opened. anew means that what happens
// until its response arrives will be forgotten, too, but for requests.
func (r *record) begin(anew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.anew, r.page, r.document, r.loader, r.open = anew, &openedPage{}, "", "", make(map[network.RequestID]int)
}

// copy returns the page with what has happened so far, and the request of it.
func (r *record) copy() (*openedPage, network.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := *r.page
	p.Requests = slices.Clone(p.Requests)
	p.Console, p.Exceptions = slices.Clone(p.Console), slices.Clone(p.Exceptions)
	p.Reports, p.Dialogs = slices.Clone(p.Reports), slices.Clone(p.Dialogs)
	return &p, r.document
}

// awaitRequests waits until all requests that count have ended.
func (r *record) awaitRequests(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(r.tab, patience)
	defer cancel()
	for {
		pending := r.pending()
		if pending == nil {
			return
		}
		select {
		case <-r.quiet:
		case <-ctx.Done():
			t.Fatalf("%s does not end", pending.URL)
		}
	}
}

// pending returns a request that counts and has not ended, or nil. Those of a page that was
// left never end.
func (r *record) pending() *request {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.page.Requests {
		if !q.done && q.counts() && (r.loader == "" || q.loader == r.loader) {
			return &q
		}
	}
	return nil
}

// take records an event. Those of requests that began earlier are ignored.
func (r *record) take(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		r.begun(e)
	case *network.EventResponseReceived:
		r.answered(e)
	case *network.EventLoadingFinished:
		r.ended(e.RequestID, int(e.EncodedDataLength), "")
	case *network.EventLoadingFailed:
		r.ended(e.RequestID, 0, e.ErrorText+" "+string(e.BlockedReason))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			r.page.Console = append(r.page.Console, fmt.Sprintf("console.%s: %s", e.Type, texts(e.Args)))
		}
	case *runtime.EventExceptionThrown:
		r.page.Exceptions = append(r.page.Exceptions, exception(e.ExceptionDetails))
	case *log.EventEntryAdded:
		r.logged(e.Entry)
	case *audits.EventIssueAdded:
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			r.page.Reports = append(r.page.Reports, violation(d))
		}
	case *cdpage.EventJavascriptDialogOpening:
		r.page.Dialogs = append(r.page.Dialogs, fmt.Sprintf("%s %q", e.Type, e.Message))
		go r.accept() // the page waits for it
	}
}

func (r *record) begun(e *network.EventRequestWillBeSent) {
	if strings.HasPrefix(e.Request.URL, "data:") {
		return // the browser's own pictures, such as in a field for a date; those of pages violate the policy
	}
	if i, ok := r.open[e.RequestID]; ok && e.RedirectResponse != nil {
		q := &r.page.Requests[i]
		q.Status, q.Bytes, q.done = int(e.RedirectResponse.Status), int(e.RedirectResponse.EncodedDataLength), true
	}
	if e.Type == network.ResourceTypeDocument && e.FrameID == r.main {
		r.document = e.RequestID
	}
	r.open[e.RequestID] = len(r.page.Requests)
	r.page.Requests = append(r.page.Requests, request{URL: e.Request.URL, Type: string(e.Type), loader: string(e.LoaderID)})
}

func (r *record) answered(e *network.EventResponseReceived) {
	if i, ok := r.open[e.RequestID]; ok {
		r.page.Requests[i].Status, r.page.Requests[i].Type = int(e.Response.Status), string(e.Type)
	}
	if e.RequestID != r.document {
		return
	}
	if r.anew {
		r.anew = false
		r.page = &openedPage{Requests: r.page.Requests}
	}
	r.loader = string(e.LoaderID)
	r.page.URL, r.page.Status = e.Response.URL, int(e.Response.Status)
}

func (r *record) ended(id network.RequestID, bytes int, failure string) {
	i, ok := r.open[id]
	if !ok {
		return
	}
	q := &r.page.Requests[i]
	q.Bytes, q.Failure, q.done = bytes, failure, true
	select {
	case r.quiet <- struct{}{}:
	default:
	}
}

// logged records an entry of the browser's log, but not that the page itself has a status
// of 400 or above: tests expect a status.
func (r *record) logged(e *log.Entry) {
	isStatus := e.Source == log.EntrySourceNetwork && e.URL == r.page.URL && r.page.Status >= 400
	if !isStatus && (e.Level == log.EntryLevelError || e.Level == log.EntryLevelWarning) {
		r.page.Console = append(r.page.Console, fmt.Sprintf("%s: %s %s", e.Level, e.Text, e.URL))
	}
}

// accept closes a dialog.
func (r *record) accept() {
	ctx, cancel := context.WithTimeout(r.tab, patience)
	defer cancel()
	// If it fails, so does the action that the dialog holds up.
	_, _ = chromedp.Call(ctx, cdpage.HandleJavaScriptDialog, cdpage.HandleJavaScriptDialogParams{Accept: true})
}

func texts(values []*runtime.RemoteObject) (all []string) {
	for _, v := range values {
		var text string
		if json.Unmarshal(v.Value, &text) != nil {
			text = v.Description + string(v.Value)
		}
		all = append(all, text)
	}
	return all
}

func exception(d *runtime.ExceptionDetails) string {
	text := fmt.Sprintf("%s (%s:%d)", d.Text, d.URL, d.LineNumber+1)
	if d.Exception != nil {
		text = d.Exception.Description + " " + text
	}
	return text
}

func violation(d *audits.ContentSecurityPolicyIssueDetails) string {
	text := fmt.Sprintf("%s violates %s", d.ContentSecurityPolicyViolationType, d.ViolatedDirective)
	if d.BlockedURL != "" {
		text += ": " + d.BlockedURL
	}
	if l := d.SourceCodeLocation; l != nil {
		text += fmt.Sprintf(" (%s:%d)", l.URL, l.LineNumber+1)
	}
	return text
}
