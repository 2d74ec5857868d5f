// Package management has the operations on namespaces, flags, variants, rules,
// distributions, rollouts, segments and constraints, the list of changes, documents,
// webhooks, and how often flags were evaluated.
// Each converts its request, reads a [service.View] or calls the service, and converts
// the result.
package management
