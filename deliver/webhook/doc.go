// Package webhook sends change records to the URLs of webhooks: what it sends (body.go, message.go), how it signs
// that (sender.go), the guarded client (client.go), and what follows from each attempt (hook.go).
package webhook
