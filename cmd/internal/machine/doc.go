// Package machine reaches the user's own machine: the browser, the editor, the environment
// and files, among them those with the user's contexts and credentials.
package machine
