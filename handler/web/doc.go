// Package web has the pages of the service: those of the web interface, which are in a
// package for each subject; signing in and out; allowing the command line to sign in; and
// the errors that browsers see during sign-ins.
//
// Pages are rendered on the server and keep no state. What they do is done by the operations
// of the API, which they run with the session of the browser: a page can do nothing that its
// visitor could not do by the API. They work without scripts; modules make the same requests
// sooner.
//
// A [Site] renders the pages. [Site.Mount] gives them their addresses, all below
// Config.PublicPath to a browser:
//
//	GET  /sign-in?return_to=   the sign-in methods, or the signed-in account
//	POST /sign-in              begins a session of a static token
//	POST /sign-in/out          ends the session
//	GET  /sign-in/cli          asks whether the command line may sign in
//	POST /sign-in/cli          allows or denies it
//	GET  /assets/{hash}/…      scripts, styles and fonts of the pages
//
// and, unless the web interface is disabled, / and everything below /namespaces, /settings,
// /search and /shortcuts; see routes.go.
//
// [Site.ErrorPage] is for the other steps of a sign-in, which are operations with errors of
// their own form.
package web
