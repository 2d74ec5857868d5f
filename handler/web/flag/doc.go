// Package flag has the pages of one flag: its targeting, its variants, its details, how often it was
// evaluated, and the questions before it is turned off, copied or deleted.
//
// What a visitor edits is a draft in the form. Every button sends the form; the server
// applies the button to the draft and shows the page again, and only Save stores it, in one
// change and unless another user changed the flag since.
package flag
