// Package analysis says what flags do beyond the result of one evaluation: why an entity
// gets it and how it could get another, what an edit changes for users, what a rule or
// rollout can never do, how a flag behaves in general, and all of that in words.
//
// It uses the buckets, audiences and matchers of package guidon, so it agrees with
// evaluations. A program that only evaluates flags does not need it.
package analysis
